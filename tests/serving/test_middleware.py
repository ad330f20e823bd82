"""The server limits who is answered, how much is read and what a browser may do, over real HTTP without any model."""

import http.client
import json
from collections.abc import Iterator

import pytest
from pages.serving_client import Client, serving

from realformer_nmt.serving.middleware import Guard
from realformer_nmt.serving.serve import Limits

BODY = b'{"texts": ["' + b"a" * 5_000 + b'"]}'
HEAD = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving({}, Limits(most_bytes=4_000, most_seconds=0.2)) as http_client:
        yield http_client


@pytest.mark.parametrize("host", ["LOCALHOST:1", "127.0.0.1:"])
def test_its_own_names_are_answered(client: Client, host: str) -> None:
    assert client.get("/health", Host=host).status == 200


def test_a_name_may_have_a_port() -> None:
    assert Guard(lambda *_: None, Limits(), ["Example.org:8000", "[::1]"]).hosts == ["example.org", "[::1]"]


@pytest.mark.parametrize("host", ["evil.example:80", "localhost.evil.example", "", "[::1"])
def test_another_name_is_refused(client: Client, host: str) -> None:
    """A page whose name was turned to 127.0.0.1 after the browser had loaded it asks under that name."""
    response = client.get("/health", Host=host)
    assert response.status == 421
    assert "this server's names, 127.0.0.1, localhost: ask for one of them" in response.json["error"]


def test_a_body_of_too_many_bytes_is_refused_however_it_comes(client: Client) -> None:
    for body in (BODY, iter([BODY[:3_000], BODY[3_000:]])):
        response = client.post("/translate", body)
        assert response.status == 413
        assert response.json["error"] == "the request has more than 4000 bytes: send its texts in several"
    assert client.post("/translate", BODY[:4_000]).status == 422  # no JSON, but read


def test_a_body_that_does_not_come_ends_the_wait(client: Client) -> None:
    with client.begun(f"{HEAD}Content-Length: 100\r\n\r\nhalf".encode()) as connection:
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status == 408
        assert json.load(response)["error"] == "the request did not arrive within 0.2 seconds: send it again"


@pytest.mark.parametrize("path", ["/", "/nothing"])
def test_a_browser_is_told_to_take_nothing_from_elsewhere(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    self_directives = ("script-src", "style-src", "img-src", "connect-src")
    nothing = ("default-src", "base-uri", "form-action", "frame-ancestors")
    assert policy == {**dict.fromkeys(self_directives, "'self'"), **dict.fromkeys(nothing, "'none'")}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers
