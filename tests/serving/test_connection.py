"""Clients that send too much, or have said all they will, over real sockets."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from pages.serving_client import Client, running, serving
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from realformer_nmt.serving import server
from realformer_nmt.serving.limits import Limits

MOST = 4_000
LARGE = 40_000_000  # bytes: more than the buffers of both sockets have room for
POST = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
GET = "GET /health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving({}, Limits(most_bytes=MOST)) as http_client:
        yield http_client


def received(connection: socket.socket) -> bytes:
    """Return all bytes to the end of the connection; a reset is an error."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def chunked(size: int) -> bytes:
    return (b"%x\r\n" % 10_000 + b"a" * 10_000 + b"\r\n") * (size // 10_000) + b"0\r\n\r\n"


BODIES = {
    "announced": (f"Content-Length: {LARGE}\r\n", b"a" * LARGE),
    "in chunks": ("Transfer-Encoding: chunked\r\n", chunked(LARGE)),
    "a little too much": (f"Content-Length: {MOST + 1}\r\n", b"a" * (MOST + 1)),
}


@pytest.mark.parametrize("name", BODIES)
def test_who_sends_all_of_a_large_body_before_reading_is_told_413(client: Client, name: str) -> None:
    head, body = BODIES[name]
    with client.begun(f"{POST}{head}\r\n".encode()) as connection:
        connection.sendall(body)
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b"more than 4000 bytes" in answer


def test_who_waits_for_permission_to_send_too_much_gets_none(client: Client) -> None:
    with client.begun(f"{POST}Content-Length: {LARGE}\r\nExpect: 100-continue\r\n\r\n".encode()) as connection:
        assert received(connection).startswith(b"HTTP/1.1 413 ")


def test_a_small_body_after_a_refusal_is_read_from_another_connection(client: Client) -> None:
    assert client.post("/translate", b"a" * LARGE).status == 413
    assert client.post("/translate", b"a" * MOST).status == 422


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_who_has_said_all_is_answered_and_the_connection_ends(client: Client, version: str) -> None:
    with client.begun(f"{GET}\r\n".replace("1.1", version).encode()) as connection:
        connection.shutdown(socket.SHUT_WR)
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b'"waiting":0}')


def test_every_request_that_was_sent_at_once_is_answered(client: Client) -> None:
    with client.begun(f"{GET}\r\n".encode() * 3) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert received(connection).count(b"HTTP/1.1 200 ") == 3


def test_every_request_that_was_sent_at_once_is_answered_though_the_server_ends_meanwhile() -> None:
    begun = threading.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer when the server has begun to end."""
        begun.set()
        while http_server.servers[0].is_serving():
            await asyncio.sleep(0.01)
        await PlainTextResponse(scope["path"])(scope, receive, send)

    http_server = server.build(app, 30)
    with running(http_server) as client, client.begun(f"{GET}\r\n".encode() * 3 + b"GET /half") as connection:
        assert begun.wait(30)
        http_server.should_exit = True
        answers = received(connection)
    assert answers.count(b"HTTP/1.1 200 ") == answers.count(b"/health") == 3
    assert b"/half" not in answers


def test_a_body_of_malformed_chunks_is_answered_once_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    """It is not waited for until its time is up, nor when the server ends."""
    chunks = f"{POST}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n"
    with serving({}, Limits(most_seconds=0.2)) as client:
        connection = client.begun(chunks.encode())
        assert received(connection).startswith(b"HTTP/1.1 400 ")
        time.sleep(0.5)
        start = time.monotonic()
    assert time.monotonic() - start < 5
    connection.close()
    assert [record.getMessage() for record in caplog.records] == ["Invalid HTTP request received."]


def test_who_offers_another_protocol_is_answered_without_a_warning(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """`curl --http2` does so; the answer is HTTP/1.1."""
    assert client.get("/health", Connection="Upgrade, HTTP2-Settings", Upgrade="h2c").status == 200
    assert caplog.records == []


def test_half_a_request_and_no_more_ends_at_once(client: Client) -> None:
    for begun in (GET, f"{POST}Content-Length: 100\r\n\r\nhalf"):
        with client.begun(begun.encode()) as connection:
            connection.shutdown(socket.SHUT_WR)
            start = time.monotonic()
            assert received(connection) == b""
            assert time.monotonic() - start < 5


def test_all_of_them_at_once_leave_nothing_behind(client: Client) -> None:
    """Threads that send, half-close or leave; the server answers others meanwhile, and afterwards."""

    def rude() -> None:
        head, body = BODIES["announced"]
        with client.begun(f"{POST}{head}\r\n".encode()) as connection:
            connection.sendall(body[:1_000_000])

    threads = [threading.Thread(target=rude) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert client.get("/health").json["waiting"] == 0
    for thread in threads:
        thread.join(timeout=60)
    assert client.get("/health").status == 200


def test_a_head_that_does_not_arrive_in_time_ends_the_connection() -> None:
    with serving({}, Limits(most_seconds=0.5)) as client:
        with client.begun(b"") as connection:
            assert received(connection) == b""
        with client.begun(GET.encode()) as connection:
            answer = received(connection)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert answer.endswith(b'{"error": "the request did not arrive within 0.5 seconds: send it again"}')


def test_a_connection_that_is_kept_alive_may_idle_and_then_its_next_head_is_timed() -> None:
    with (
        serving({}, Limits(most_seconds=0.5)) as client,
        client.begun(b"") as connection,
        connection.makefile("rb") as file,
    ):
        for pause in (0, 1):
            time.sleep(pause)
            connection.sendall(f"{GET}\r\n".encode())
            assert file.readline().startswith(b"HTTP/1.1 200 ")
            assert b"".join(iter(file.readline, b"\r\n")).count(b"content-length: 27\r\n") == 1
            assert file.read(27) == b'{"status":"ok","waiting":0}'
        connection.sendall(GET.encode())
        assert file.read().startswith(b"HTTP/1.1 408 ")
