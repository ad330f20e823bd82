"""Files and folders that get their name only when they are complete.

Until then one is called NAME.12345678.part and is locked by its writer as long as that process lives; the next writer
of NAME removes what a killed one has left.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from realformer_nmt.common.errors import UserError

CHUNK = 1 << 20
PART = r"\.[0-9a-f]{8}\.part"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # disk, quota, limit of a file's size


@contextlib.contextmanager
def completed(path: Path, size: int | None = None) -> Iterator[IO[bytes]]:
    """Yield a stream to write to; the file appears if the block succeeds, and nothing remains if it fails."""
    with writing(path, size), locked_part(path, Path.touch) as part:
        with part.open("r+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)


@contextlib.contextmanager
def completed_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; it gets its name if the block succeeds, and is removed if it fails."""
    check_free(path)
    with writing(path), locked_part(path, Path.mkdir) as part:
        yield part
        for entry in (*part.rglob("*"), part):
            with opened(entry) as descriptor:
                os.fsync(descriptor)
        part.rename(path)


def check_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UserError(f"{path} is there already: name another folder, or remove it")


@contextlib.contextmanager
def locked_part(path: Path, create: Callable[[Path], None]) -> Iterator[Path]:
    """Create the part of a file or folder and lock it for the block; remove it if the block fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    create(part)
    try:
        with opened(part) as descriptor:
            with contextlib.suppress(OSError):  # on a disk without locks, remove_leftovers removes nothing
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield part
    except BaseException:
        remove(part)
        raise


def remove_leftovers(path: Path) -> None:
    """Remove the parts of this file or folder that no living process has locked."""
    for part in [entry for entry in path.parent.iterdir() if re.fullmatch(re.escape(path.name) + PART, entry.name)]:
        with contextlib.suppress(OSError), opened(part) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(part)


@contextlib.contextmanager
def opened(entry: Path) -> Iterator[int]:
    """Yield the descriptor of a file or folder; NFS locks a file only if it is open for writing."""
    descriptor = os.open(entry, os.O_RDONLY if entry.is_dir() else os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def remove(entry: Path) -> None:
    """Remove a file or folder, as far as the system allows."""
    shutil.rmtree(entry, ignore_errors=True)  # which ignores a file
    with contextlib.suppress(OSError):
        entry.unlink()


def open_no_link(path: str | Path, flags: int) -> int:
    """Open a file and return its descriptor; a link is an error, for in a foreign folder it may lead anywhere."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def digest(stream: IO[bytes], algorithm: str) -> "hashlib._Hash":
    hashed = hashlib.new(algorithm, usedforsecurity=False)  # a check against damage
    while chunk := stream.read(CHUNK):
        hashed.update(chunk)
    return hashed


@contextlib.contextmanager
def writing(path: Path, missing: int | None = None, note: str = "") -> Iterator[None]:
    """Turn an error of the system into a UserError that names the file and, on a full disk, the bytes needed.

    The file is the error's own, such as an input; it is `path` where that is a part or several files."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        refusal = _refusal(error)
        if refusal is None:
            raise
        named = isinstance(refusal.filename, str | os.PathLike) and refusal.filename2 is None
        file = Path(refusal.filename) if named and not re.search(PART, str(refusal.filename)) else path
        reason = f"{file}: {refusal.strerror}"
        if refusal.errno in FULL:
            needed = "more room is" if missing is None else f"{missing:,} more bytes are"
            reason += f": {needed} needed, {shutil.disk_usage(file.parent).free:,} are free"
        raise UserError("; ".join(filter(None, (reason, note, "fix that and run this again")))) from error


def _refusal(error: BaseException | None) -> OSError | None:
    """Return the system's error, which torch.save hides behind a RuntimeError about the file's length."""
    while error is not None and not (isinstance(error, OSError) and error.errno):  # gzip's, of damage, has no number
        error = error.__context__
    return error
