"""The server as a process: its address, and its end."""

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from realformer_nmt.common.errors import UserError
from realformer_nmt.serving.connection import Connection

LINGERING = 5  # seconds that a client may take to read its answer when the server ends


class Server(uvicorn.Server):
    """Ends with status 0 when a signal asks for it and all is answered; uvicorn's own would send itself the signal
    again. A second signal ends it at once."""

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
    """To its address, before any model is loaded; nobody is answered yet."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except (OSError, UnicodeError) as error:
        what = getattr(error, "strerror", error)
        raise UserError(f"--host {host} --port {port}: {what}; give another, --port 0 is one that is free") from error
    return made


def address(host: str, listening: socket.socket) -> str:
    return f"http://{in_address(host)}:{listening.getsockname()[1]}"


def in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def made(app: ASGIApp, seconds: int) -> Server:
    """Says nothing of what it is asked."""
    config = uvicorn.Config(
        app,
        http=Connection,
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=seconds + LINGERING,
    )
    return Server(config)


def run(server: Server, listening: socket.socket) -> None:
    asyncio.run(server.serve(sockets=[listening]))
