"""A server in a thread of the tests, and a client that asks it over HTTP."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn

from realformer_nmt.serving import app, server
from realformer_nmt.serving.batching import Batches
from realformer_nmt.serving.serve import Limits
from realformer_nmt.serving.served_models import Served

DEFAULT = Limits()
HOSTS = ("127.0.0.1", "localhost")


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client(NamedTuple):
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = {}) -> Answer:
        """A body that is neither bytes nor an iterator of them is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        plain = body is None or isinstance(body, bytes) or hasattr(body, "__next__")
        content = body if plain else json.dumps(body).encode()
        try:
            connection.request(method, path, content, {"Content-Type": "application/json", **headers})
            got = connection.getresponse()
            return Answer(got.status, dict(got.getheaders()), got.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)

    def begun(self, body: bytes) -> socket.socket:
        """A connection on which this much has been sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(body)
        return connection


@contextmanager
def running(http_server: uvicorn.Server) -> Iterator[Client]:
    """Connections wait from the start, until the thread accepts them."""
    with server.bound("127.0.0.1", 0) as listening:
        listening.listen(64)
        thread = threading.Thread(target=server.answer_requests, args=(http_server, listening))
        thread.start()
        try:
            yield Client(listening.getsockname()[1])
        finally:
            http_server.should_exit = True
            thread.join(timeout=60)


@contextmanager
def serving(models: Mapping[str, Served], limits: Limits = DEFAULT) -> Iterator[Client]:
    batches = Batches(limits.most_waiting)
    try:
        with running(server.build(app.interface(models, batches, limits, HOSTS), limits.most_seconds)) as client:
            yield client
    finally:
        batches.close()


def hypotheses(answer: Answer) -> list[list[tuple[str, float]]]:
    assert answer.status == 200, answer.body
    return [
        [(each["text"], each["score"]) for each in translation["hypotheses"]]
        for translation in answer.json["translations"]
    ]
