"""Work in a process of its own: an engine may slow another down that shares its process."""

import multiprocessing
import time
from collections.abc import Callable
from typing import Any

Work = Callable[[], Any]


class Apart:
    """One call has the process do once what `make` returns there. It ends when nobody can ask it any more."""

    def __init__(self, make: Callable[..., Work], *arguments: object) -> None:
        self.asked, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        context.Process(target=_serve, args=(theirs, make, arguments), daemon=True).start()
        theirs.close()
        self.spent = 0.0  # seconds of the processor that its calls took

    def __call__(self) -> Any:
        self.asked.send(True)
        found, seconds = self.asked.recv()
        self.spent += seconds
        return found


def _serve(asked: Any, make: Callable[..., Work], arguments: tuple[object, ...]) -> None:
    work = make(*arguments)
    try:
        while asked.recv():
            start = time.process_time()
            found = work()
            asked.send((found, time.process_time() - start))
    except EOFError:
        return
