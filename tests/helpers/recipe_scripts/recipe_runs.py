"""Real commands that are killed as soon as something is true."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from programs.program import REPOSITORY

LIMIT = 240.0  # seconds


def environment(**changes: str) -> Mapping[str, str]:
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "OMP_NUM_THREADS": "1", "no_proxy": "127.0.0.1", "PYTHONPATH": path, **changes}


def start(words: Sequence[object], log: Path, **changes: str) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, with its two outputs in one file."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(word) for word in words],
            env=environment(**changes),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def wait_for(happened: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + LIMIT
    while not happened():
        assert process.poll() is None, f"ended before it could be killed:\n{log.read_text()[-3000:]}"
        assert time.monotonic() < end, log.read_text()[-3000:]
        time.sleep(0.01)


def freeze(process: subprocess.Popen[bytes]) -> None:
    """It and all that it started stay as they are, until they are killed."""
    os.killpg(process.pid, signal.SIGSTOP)


def kill(process: subprocess.Popen[bytes]) -> None:
    """It and all that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
