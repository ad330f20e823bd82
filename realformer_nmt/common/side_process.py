"""A function in a process beside this one, which ends when this one does."""

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

from realformer_nmt.common.programs import program

Work = Callable[[], object]


def begin(work: Work, log: Path, threads: int, on_gpu: bool) -> "SideProcess":
    """What it says goes to `log`. Where it can be a fork it imports nothing again, which takes seconds: in one neither
    torch's threads live on, nor a GPU's driver, nor macOS's libraries."""
    if sys.platform != "linux" or threads != 1 or on_gpu:
        return NewPython(work, log, threads)
    process = multiprocessing.get_context("fork").Process(target=_run, args=(work, log, threads, _parent_ends))
    process.start()
    return process


class NewPython:
    """With the methods of a BaseProcess. It looks for modules where this one does; multiprocessing's own, in Python
    3.10, looks into the current folder first."""

    def __init__(self, work: Work, log: Path, threads: int) -> None:
        self.ours, theirs = multiprocessing.Pipe()
        with theirs:
            number = theirs.fileno()
            self.process = subprocess.Popen(program(__name__, str(number)), pass_fds=[number])
        with suppress(BrokenPipeError):  # its status says that it ended
            self.ours.send(sys.path)
            self.ours.send((work, log, threads))

    @property
    def exitcode(self) -> int | None:
        return self.process.poll()

    def join(self, timeout: float | None = None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout)

    def kill(self) -> None:
        self.process.kill()


SideProcess = BaseProcess | NewPython


def _run(work: Work, log: Path, threads: int, parent_ends: Work) -> None:
    threading.Thread(target=_end_after, args=(parent_ends,), daemon=True).start()
    torch.set_num_threads(threads)
    with log.open("ab") as said, Path(os.devnull).open("r+b") as nothing:
        for stream, number in ((nothing, 0), (nothing, 1), (said, 2)):
            os.dup2(stream.fileno(), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    try:
        work()
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(1)


def _end_after(parent_ends: Work) -> None:
    """However the parent ends; then nobody waits for what we make."""
    parent_ends()
    os._exit(1)


def _parent_ends() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()


if __name__ == "__main__":
    connection = Connection(int(sys.argv[1]))
    sys.path[:] = connection.recv()
    work, log, threads = connection.recv()  # needs that path
    _run(work, log, threads, lambda: connection.poll(None))
