"""One process at a time: a lock that ends with the process that holds it, however it ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from realformer_nmt.common.atomic_files import own, writing
from realformer_nmt.common.errors import UserError


class HeldError(UserError):
    """Another process has it."""


def take(file: Path, doing: str) -> IO[str]:
    """The lock is held until the file is closed."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = os.fdopen(own(file, os.O_WRONLY | os.O_CREAT), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        if not isinstance(error, BlockingIOError):
            raise
        raise HeldError(f"{file.parent}: another process {doing} it; wait, or end that process") from error
    return lock


@contextlib.contextmanager
def alone(file: Path, doing: str) -> Iterator[int]:
    """The lock's descriptor, for children that should hold it too."""
    with take(file, doing) as lock:
        yield lock.fileno()


def held(file: Path) -> bool:
    try:
        with alone(file, "holds"):
            return False
    except HeldError:
        return True
