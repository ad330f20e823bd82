"""The server as a real process: what it says, and how it ends."""

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Awaitable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pages.serving_client import Client
from programs import commands

import realformer_nmt
from realformer_nmt.common.errors import UserError
from realformer_nmt.serving import app, server
from realformer_nmt.serving.batching import Batches
from realformer_nmt.serving.serve import Limits

Started = tuple["subprocess.Popen[str]", Client]
MUCH = 100  # texts of a request


@pytest.fixture
def started(run: Path, toy_corpus: Path, tmp_path: Path) -> Iterator[Started]:
    model = [run / "checkpoint5.pt", "--data", toy_corpus, "--subwords", "none", "--cpu"]
    with subprocess.Popen(
        [*commands.OURS, "serve", *map(str, model), "--port", "0", "--most-seconds", "300"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            line = process.stdout.readline()
            address = re.fullmatch(r"checkpoint5: http://127\.0\.0\.1:(\d+)\n", line)
            assert address, line + process.stdout.read()
            yield process, Client(int(address[1]))
        finally:
            process.kill()


def request(body: bytes) -> bytes:
    head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    return f"{head}{len(body)}\r\n\r\n".encode() + body


def answer(connection: socket.socket) -> list[str]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    assert response.status == 200
    return [each["hypotheses"][0]["text"] for each in json.load(response)["translations"]]


def test_a_signal_ends_it_when_all_that_it_took_is_answered(started: Started, run: Path, toy_corpus: Path) -> None:
    process, client = started
    texts = (toy_corpus.parent / "train.src").read_text().splitlines()
    requests = [texts[MUCH * number : MUCH * (number + 1)] for number in range(3)]
    connections = [client.begun(request(json.dumps({"texts": some, "beam": 8}).encode())) for some in requests]
    assert client.get("/health").status == 200  # so those before are read
    process.send_signal(signal.SIGTERM)
    answers = [answer(connection) for connection in connections]
    assert process.wait(60) == 0
    assert process.stdout.read() == ""
    model = realformer_nmt.load(run / "checkpoint5.pt", data=toy_corpus, subwords="none", cpu=True)
    assert answers == [model.translate(some, beam=8) for some in requests]
    with pytest.raises(ConnectionRefusedError):
        client.get("/health")


def test_a_second_interrupt_ends_it_without_the_answers(started: Started) -> None:
    process, client = started
    with client.begun(request(b'{"texts": ["a b c"]}')[:-9]):
        assert client.get("/health").status == 200  # so the one before is read
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_a_signal_before_uvicorn_listens_to_it_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before, begin = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}, asyncio.run

    def run(serving: Awaitable[None]) -> None:
        signal.raise_signal(signal.SIGTERM)
        begin(asyncio.wait_for(serving, 5))

    monkeypatch.setattr(asyncio, "run", run)
    try:
        with server.bound("127.0.0.1", 0) as listening, closing(Batches(1)) as batches:
            server.answer_requests(server.build(app.interface({}, batches, Limits(), []), 1), listening)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_an_address_that_cannot_be_had_is_refused_before_a_model_is_loaded() -> None:
    with server.bound("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(UserError, match=f"--port {port}: Address already in use; give another, --port 0"):
            server.bound("127.0.0.1", port)
    for host in ("no host", "x" * 300, "256.1.1.1"):
        with pytest.raises(UserError, match=r"--host .*; give another"):
            server.bound(host, 0)
