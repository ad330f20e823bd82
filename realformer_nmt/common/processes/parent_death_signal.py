"""Processes that die with the one that started them."""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial

PR_SET_PDEATHSIG = 1


def dependent_child() -> Callable[[], object] | None:
    """Return the preexec_fn of a subprocess.Popen that dies with this process, or None on other systems than Linux.

    An orphan would go on writing into the files of the next run.
    """
    return partial(_die_with, os.getpid(), ctypes.CDLL(None).prctl) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Make this process die with the one that started it, also with one that has ended already; on Linux only."""
    if sys.platform == "linux":
        _die_with(os.getppid(), ctypes.CDLL(None).prctl)
        parent = multiprocessing.parent_process()
        if parent and not parent.is_alive():  # the parent above is another, which has taken this process in
            os.kill(os.getpid(), signal.SIGKILL)


def end_with_parent() -> None:
    """End this process, one of multiprocessing's, as soon as its parent has ended, however it ended."""
    threading.Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
    os._exit(1)


def _die_with(parent: int, prctl: Callable[[int, int], int]) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call above
        os.kill(os.getpid(), signal.SIGKILL)
