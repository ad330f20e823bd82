"""Work on a stream in many processes: results in the order of the stream, no more of it in memory than is worked on."""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from typing import TypeVar

from realformer_nmt.common.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[tuple[Item, Result]]:
    """Each item with function(item); with one worker in this very process."""
    if workers == 1:
        for item in items:
            yield item, function(item)
        return
    pool = ProcessPoolExecutor(workers, context(), initializer=end_with_parent)
    window: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            window.append((item, pool.submit(function, item)))
            if len(window) > 2 * workers:
                yield taken(window)
        while window:
            yield taken(window)
    except BrokenProcessPool as error:
        raise UserError(
            f"a worker process was killed, perhaps for its memory: use fewer --workers than {workers}"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def context() -> BaseContext:
    """One server imports this package, and with it torch, for all workers, which share that memory."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([__name__])
    return server


def taken(window: deque[tuple[Item, Future[Result]]]) -> tuple[Item, Result]:
    item, future = window.popleft()
    return item, future.result()


def end_with_parent() -> None:
    """A killed command leaves no process behind."""
    threading.Thread(target=await_parent, daemon=True).start()


def await_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
