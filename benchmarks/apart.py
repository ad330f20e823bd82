"""Work in a process of its own: an engine may slow another down that shares its process."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

Work = Callable[[], Any]


def apart(make: Callable[..., Work], *arguments: object) -> Work:
    """One call has the process do once what `make` returns there. It ends when nobody can ask it any more."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    context.Process(target=_serve, args=(theirs, make, arguments), daemon=True).start()
    theirs.close()

    def work() -> Any:
        ours.send(True)
        return ours.recv()

    return work


def _serve(asked: Connection, make: Callable[..., Work], arguments: tuple[object, ...]) -> None:
    work = make(*arguments)
    try:
        while asked.recv():
            asked.send(work())
    except EOFError:
        return
