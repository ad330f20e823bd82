"""A function that runs in another process, which ends when this one does."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

from realformer_nmt.common.processes.parent_death_signal import end_with_parent
from realformer_nmt.common.processes.python_subprocess import program

Work = Callable[[], object]


def begin(work: Work, log: Path, threads: int, on_gpu: bool) -> "WorkerProcess":
    """Start the function in another process, with its output appended to `log`.

    A fork is used where it is safe, because new imports take seconds. It is not safe with torch's threads, a GPU's
    driver or macOS's libraries: these do not survive a fork.
    """
    if sys.platform != "linux" or threads != 1 or on_gpu:
        return NewPython(work, log, threads)
    process = multiprocessing.get_context("fork").Process(target=_run, args=(work, log, threads))
    process.start()
    return process


class NewPython:
    """A new Python process with the methods of a BaseProcess and this process's sys.path.

    multiprocessing's own, in Python 3.10, imports from the current folder first.
    """

    def __init__(self, work: Work, log: Path, threads: int) -> None:
        self.connection, child_end = multiprocessing.Pipe()
        with child_end:
            number = child_end.fileno()
            self.process = subprocess.Popen(program(__name__, str(number)), pass_fds=[number])
        with suppress(BrokenPipeError):  # the child has ended, and its exit status says so
            self.connection.send(sys.path)
            self.connection.send((work, log, threads))

    @property
    def exitcode(self) -> int | None:
        return self.process.poll()

    def join(self, timeout: float | None = None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout)

    def kill(self) -> None:
        self.process.kill()


WorkerProcess = BaseProcess | NewPython


def _run(work: Work, log: Path, threads: int, parent_ends: Work | None = None) -> None:
    end_with_parent(parent_ends)
    torch.set_num_threads(threads)
    with log.open("ab") as output, Path(os.devnull).open("r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    try:
        work()
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(1)


if __name__ == "__main__":
    connection = Connection(int(sys.argv[1]))
    sys.path[:] = connection.recv()
    work, log, threads = connection.recv()  # after sys.path, which unpickling needs
    _run(work, log, threads, lambda: connection.poll(None))
