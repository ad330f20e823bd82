"""Folders that get their name only when they are complete.

Until then a folder is called NAME.12345678.part and is locked by its writer as long as that process lives; the next
writer of NAME removes what a killed one has left.
"""

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from realformer_nmt.common.atomic_files import writing
from realformer_nmt.common.errors import UserError


@contextlib.contextmanager
def completed_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; it gets its name if the block succeeds, and is removed if it fails."""
    check_free(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path)
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        part.mkdir()
        try:
            with locked(part):
                yield part
                for entry in (*part.rglob("*"), part):
                    _sync(entry)
                check_free(path)
                part.rename(path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def check_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UserError(f"{path} is there already: name another folder, or remove it")


def remove_leftovers(path: Path) -> None:
    """Remove the parts of this folder that no living process has locked."""
    pattern = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    for part in [entry for entry in path.parent.iterdir() if pattern.fullmatch(entry.name) and entry.is_dir()]:
        with contextlib.suppress(OSError), locked(part):
            shutil.rmtree(part)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for a block; raise an OSError if another process has locked it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
