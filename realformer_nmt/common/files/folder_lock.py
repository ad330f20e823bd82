"""Locks on files, which the system releases when their process ends, however it ends.

The processes that it starts do not inherit them: one that outlives it keeps no lock.
"""

import fcntl
import os
import time
import weakref
from pathlib import Path
from typing import IO

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import open_no_link, writing

PROBE = 0.01  # seconds, more than is_locked holds a lock


class HeldError(UserError):
    """A lock that another process holds."""


class NoLocksError(UserError):
    """A lock on a disk that has none."""


def locked(file: Path, doing: str) -> IO[str]:
    """Lock a file until the returned stream is closed."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = os.fdopen(open_no_link(file, os.O_WRONLY | os.O_CREAT), "w")
    try:
        lock_alone(lock)
    except OSError as error:
        lock.close()
        if isinstance(error, BlockingIOError):
            raise HeldError(f"{file.parent}: another process {doing} it; wait, or end that process") from error
        reason = f"{file} cannot be locked ({error.strerror})"
        raise NoLocksError(f"{reason}: name a folder on a disk that has locks (flock)") from error
    reference = weakref.ref(lock)
    os.register_at_fork(after_in_child=lambda: _close(reference()))
    return lock


def _close(lock: IO[str] | None) -> None:
    if lock is not None:
        lock.close()


def lock_alone(lock: IO[str]) -> None:
    """Lock an open file; try twice, for another process may only ask whether it is locked."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(PROBE)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(file: Path) -> bool:
    """Tell whether another process holds the lock; this writes nothing, for a folder may be another user's."""
    with writing(file):
        try:
            with os.fdopen(open_no_link(file, os.O_RDONLY)) as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
    return False
