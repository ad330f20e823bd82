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
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from realformer_nmt.common.errors import UserError

CHUNK = 1 << 20
NO_FILE = "{} is a link, a pipe or a device: remove it, what is written here is a file"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # disk, quota, limit of a file's size


@contextlib.contextmanager
def completed(path: Path, size: int | None = None) -> Iterator[IO[bytes]]:
    """Yield a stream to write to; the file appears if the block succeeds, and nothing remains if it fails."""
    with writing(path, size):
        path.parent.mkdir(parents=True, exist_ok=True)
        stream, part = create_part(path)
        try:
            with stream:
                yield stream
                stream.flush()
                put_in_place(stream, part, path)
        except BaseException:
            with contextlib.suppress(OSError):  # its folder may have been removed
                part.unlink()
            raise


@contextlib.contextmanager
def completed_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; it gets its name if the block succeeds, and is removed if it fails."""
    check_free(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path)
        part = part_of(path)
        part.mkdir()
        try:
            with contextlib.ExitStack() as lock:
                try:
                    lock.enter_context(locked(part))
                except (BlockingIOError, FileNotFoundError):  # another writer removes it as a leftover
                    raise
                except OSError:  # on a disk without locks, where remove_leftovers removes nothing
                    pass
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


def create_part(path: Path) -> tuple[IO[bytes], Path]:
    """Create a file that no other process writes to or removes while this one lives."""
    remove_leftovers(path)
    while True:
        part = part_of(path)
        stream = part.open("xb")
        with contextlib.suppress(OSError):  # on a disk without locks, remove_leftovers removes nothing
            fcntl.flock(stream, fcntl.LOCK_EX)
        if has_name(stream, part):
            return stream, part
        stream.close()  # another writer removed it as a leftover before it was locked


def part_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")


def remove_leftovers(path: Path) -> None:
    """Remove the parts of this file or folder that no living process has locked."""
    pattern = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    for part in [entry for entry in path.parent.iterdir() if pattern.fullmatch(entry.name)]:
        with contextlib.suppress(OSError), locked(part):
            if part.is_dir():
                shutil.rmtree(part)
            else:
                part.unlink()


@contextlib.contextmanager
def locked(part: Path) -> Iterator[None]:
    """Lock a file or folder for a block; raise an OSError if another process has locked it."""
    descriptor = os.open(part, os.O_RDONLY if part.is_dir() else os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def has_name(stream: IO[bytes], part: Path) -> bool:
    """Tell whether this name still belongs to the open file."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(stream.fileno()), part.stat())
    return False


def put_in_place(stream: IO[bytes], part: Path, path: Path) -> None:
    os.fsync(stream.fileno())
    part.replace(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_regular_file(path: str | Path, flags: int) -> int:
    """Open a regular file and return its descriptor; refuse links, which in a foreign folder may lead anywhere."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a pipe that nobody reads
            raise UserError(NO_FILE.format(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UserError(NO_FILE.format(path))
    return descriptor


def digest(stream: IO[bytes], algorithm: str) -> "hashlib._Hash":
    hashed = hashlib.new(algorithm, usedforsecurity=False)  # a check against damage
    while chunk := stream.read(CHUNK):
        hashed.update(chunk)
    return hashed


@contextlib.contextmanager
def writing(path: Path, missing: int | None = None, note: str = "") -> Iterator[None]:
    """Turn an error of the system into a UserError that names the file and, on a full disk, the bytes needed.

    The file is `path`, unless the error is about one that lies elsewhere, such as an input."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        refusal = _refusal(error)
        if refusal is None:
            raise
        file = path if is_about(refusal, path) else Path(refusal.filename)
        reason = f"{file}: {refusal.strerror}"
        if refusal.errno in FULL:
            needed = "more room is" if missing is None else f"{missing:,} more bytes are"
            reason += f": {needed} needed, {shutil.disk_usage(file.parent).free:,} are free"
        raise UserError("; ".join(filter(None, (reason, note, "fix that and run this again")))) from error


def is_about(error: OSError, path: Path) -> bool:
    """Return whether an error names no file but the one to write, one of its parts, or a folder on the way there."""
    if error.filename2 is not None or not isinstance(error.filename, str | os.PathLike):  # a part renamed; no name
        return True
    file, place = Path(error.filename).absolute(), path.absolute()
    part = any(
        each.parent == place.parent and place.name in each.name and each.suffix == ".part"
        for each in (file, *file.parents)
    )
    return part or file in (place, *place.parents)


def _refusal(error: BaseException | None) -> OSError | None:
    """Return the system's error, which torch.save hides behind a RuntimeError about the file's length.

    An OSError without a number is not the system's: gzip raises it for damaged input.
    """
    while error is not None:
        if isinstance(error, OSError):
            return None if error.errno is None else error
        error = error.__context__
    return None
