"""Processes that stop themselves, and go on once their parent has been killed."""

import contextlib
import os
import signal
import time
from pathlib import Path

LIMIT = 60.0  # seconds


def wait_until_stopped(process: int) -> None:
    _wait_for(process, "T")


def go_on_and_end(process: int) -> None:
    """Let a stopped process go on; fail unless it ends, and kill it then."""
    try:
        _signal(process, signal.SIGCONT)
        _wait_for(process, "Z")
    finally:
        _signal(process, signal.SIGKILL)


def _wait_for(process: int, state: str) -> None:
    """Wait until a process is stopped, T, or has ended, Z, also where nobody has waited for it."""
    end = time.monotonic() + LIMIT
    while _state(process) != state:
        assert time.monotonic() < end, f"process {process} is not in state {state} after {LIMIT:.0f} s"
        time.sleep(0.05)


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return "Z"


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)
