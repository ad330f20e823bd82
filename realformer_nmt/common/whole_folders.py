"""Folders that bear their name only when everything is in them.

Until then one is NAME.12345678.part, its writer's own, with a lock that ends with the writer. Whoever writes NAME next
removes what a killed writer left of it.
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
    """An empty folder to fill. It gets its name if the block ends well, and nothing is there if it does not."""
    demand_free(path)
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
                demand_free(path)
                part.rename(path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def demand_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UserError(f"{path} is there already: name another folder, or remove it")


def remove_leftovers(path: Path) -> None:
    left = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    for part in [entry for entry in path.parent.iterdir() if left.fullmatch(entry.name) and entry.is_dir()]:
        with contextlib.suppress(OSError), locked(part):
            shutil.rmtree(part)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """An OSError where another process holds it."""
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
