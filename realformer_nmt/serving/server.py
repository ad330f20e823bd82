"""The server as a process: its address, and its shutdown."""

import asyncio
import math
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from realformer_nmt.common.errors import UserError
from realformer_nmt.serving.connection import Connection

LINGERING = 5  # seconds in which clients may read their answers when the server ends


class Server(uvicorn.Server):
    """Server that exits with status 0 after a signal, when all requests are answered; a second signal ends it at once.

    uvicorn's own server would send itself the signal again.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._end)
        yield

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        self.should_exit = True


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the address, before any model is loaded; until then clients wait.

    Bound alone, the address would be free for a second server too, until one of both listens.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", error)
        raise UserError(f"--host {host} --port {port}: {reason}; give another, --port 0 is one that is free") from error
    return listening


def address(host: str, listening: socket.socket) -> str:
    return f"http://{in_address(host)}:{listening.getsockname()[1]}"


def in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def build(app: ASGIApp, seconds: float) -> Server:
    """Build a server without a log of its requests."""
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(Connection, seconds)),
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=math.ceil(seconds) + LINGERING,
    )
    return Server(config)


def run(server: Server, listening: socket.socket) -> None:
    asyncio.run(server.serve(sockets=[listening]))
