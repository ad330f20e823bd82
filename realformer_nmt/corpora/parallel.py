"""Parallel work on a stream: results in its order, and only the items in progress in memory."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.processes.parent_death_signal import end_with_parent
from realformer_nmt.common.processes.unrepeated_script import unrepeated_script

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[tuple[Item, Result]]:
    """Yield each item with function(item), computed in worker processes, or in this process if `workers` is 1."""
    if workers == 1:
        for item in items:
            yield item, function(item)
        return
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([__name__])
    pool = ProcessPoolExecutor(workers, server, initializer=_start)
    window: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            with unrepeated_script():  # submit starts the workers
                window.append((item, pool.submit(function, item)))
            if len(window) > 2 * workers:
                item, future = window.popleft()
                yield item, future.result()
        for item, future in window:
            yield item, future.result()
    except BrokenProcessPool as error:
        raise UserError(
            f"a worker process was killed, perhaps for its memory: use fewer --workers than {workers}"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start() -> None:
    """Let a worker end with this process, which alone answers Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
