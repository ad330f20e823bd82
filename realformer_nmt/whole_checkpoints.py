"""Which checkpoints are whole: torch writes archives of zip's format, with a directory at the end and a checksum for
every tensor."""

import pickle
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

ARCHIVE = b"PK\x03\x04"  # how every archive begins


def is_cut(path: Path) -> bool:
    """Whether it was to be an archive and is none, or has damage within. What else it may be, its loader says."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(len(ARCHIVE))
    archive = ARCHIVE.startswith(start) or not start.strip(b"\0")  # zeros: a file whose length came to the disk first
    return archive and not _is_whole(path)


def _is_whole(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):  # as it finds the damage
        return False


def updates(path: Path) -> int | None:
    """How far a training had come that can go on from here; tensors stay on the disk."""
    try:
        state: Any = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
        return int(state["optimizer_history"][-1]["num_updates"]) if state["last_optimizer_state"] else None
    except (pickle.UnpicklingError, RuntimeError, OSError, EOFError, LookupError, TypeError, ValueError):
        return None


def newest(paths: Iterable[Path]) -> Path | None:
    """By updates; all that is in it is read only of those that come first."""
    known = [(made, path) for path in paths if (made := updates(path)) is not None]
    return next((path for _, path in sorted(known, reverse=True) if not is_cut(path)), None)


def told(path: Path) -> str:
    """checkpoint3.pt (1,234 bytes, cut off)."""
    made = None if (cut := is_cut(path)) else updates(path)
    state = "cut off" if cut else "nothing to go on from" if made is None else f"{made} updates"
    return f"{path.name} ({path.stat().st_size:,} bytes, {state})"
