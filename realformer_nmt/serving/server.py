"""A run of the server: models are loaded, then requests are answered until a signal ends it."""

import asyncio
import math
import signal
import socket
import threading

import uvicorn
from starlette.types import ASGIApp

from realformer_nmt.common.errors import UserError
from realformer_nmt.serving import served_models
from realformer_nmt.serving.app import interface
from realformer_nmt.serving.batching import Batches
from realformer_nmt.serving.serve import ServeRequest

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
LINGERING = 5  # seconds in which clients may read their answers when the server ends


def run(request: ServeRequest) -> int:
    with bound(request.host, request.port) as listening:
        models = served_models.serve(request)
        batches = Batches(request.most_waiting)
        hosts = [*LOCAL_NAMES, in_address(request.host), *request.name]
        app = interface(models, batches, request.limits(), hosts)
        address = f"http://{in_address(request.host)}:{listening.getsockname()[1]}"
        print(f"{', '.join(models)}: {address}", flush=True)
        answer_requests(build(app, request.most_seconds), listening)
        batches.close()
    return 0


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


def in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def build(app: ASGIApp, seconds: float) -> uvicorn.Server:
    """Build a server without a log of its requests; errors of its own are printed."""
    config = uvicorn.Config(
        app,
        http="h11",
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=math.ceil(seconds) + LINGERING,
    )
    return uvicorn.Server(config)


def answer_requests(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl+C, which counts before uvicorn listens to it, too; at its end it is sent again."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, server.handle_exit)
    asyncio.run(server.serve(sockets=[listening]))
