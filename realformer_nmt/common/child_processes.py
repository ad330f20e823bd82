"""Processes that die with the one that started them."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

PR_SET_PDEATHSIG = 1


def dying_with_us() -> dict[str, Any]:
    """Options of subprocess.Popen, on Linux: an orphan would go on writing where the next run begins afresh."""
    if sys.platform != "linux":
        return {}
    return {"preexec_fn": partial(_die_with, os.getpid(), ctypes.CDLL(None).prctl)}


def die_with_parent() -> None:
    """The same, of a process that runs already."""
    if sys.platform == "linux":
        _die_with(os.getppid(), ctypes.CDLL(None).prctl)


def _die_with(parent: int, prctl: Callable[[int, int], int]) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be asked for
        os.kill(os.getpid(), signal.SIGKILL)
