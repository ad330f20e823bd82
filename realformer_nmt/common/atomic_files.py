"""Files that bear their name only when they are complete.

Until then a download, which is gone on with, is NAME.part; all else is NAME.12345678.part, the writer's own, with a
lock that ends with the writer. Whoever writes NAME next removes what a killed writer left of it.
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
from types import TracebackType
from typing import IO

from realformer_nmt.common.errors import UserError

CHUNK = 1 << 20
NO_FILE = "{} is a link, a pipe or a device: remove it, what is written here is a file"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # disk, quota, limit of a file's size


class Partial:
    """NAME.part, which outlives the process, with the hash of what it holds; one process at a time may add to it."""

    def __init__(self, path: Path, algorithm: str, whole: int | None) -> None:
        self.path, self.part, self._whole = path, part_of(path), whole
        self._algorithm = algorithm
        with writing(path, whole):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._locked()
        self._stream.seek(0)
        self._hash = digest(self._stream, algorithm)
        self.size = self._stream.tell()

    def _locked(self) -> IO[bytes]:
        while True:
            descriptor = own(self.part, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            stream = os.fdopen(descriptor, "a+b", buffering=0)  # nothing is pending when the process is killed
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                stream.close()
                raise UserError(f"{self.part}: another process is downloading it; wait, or end that process") from error
            if bears(stream, self.part):
                return stream
            stream.close()  # another process has just finished it

    def __enter__(self) -> "Partial":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.size:
            self.part.unlink(missing_ok=True)
        self._stream.close()

    @property
    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def append(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        missing = None if self._whole is None else self._whole - self.size
        with writing(self.path, missing, f"what has come stays in {self.part.name}"):
            while rest:
                rest = rest[self._stream.write(rest) :]
        self._hash.update(chunk)
        self.size += len(chunk)

    def restart(self) -> None:
        self._stream.truncate(0)
        self._hash = hashlib.new(self._algorithm, usedforsecurity=False)
        self.size = 0

    def finish(self) -> Path:
        with writing(self.path):
            _put_in_place(self._stream, self.part, self.path)
        return self.path


def own(path: str | Path, flags: int) -> int:
    """A descriptor of the file of this name: never of what a link leads to, in a folder that came from elsewhere."""
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


def part_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


@contextlib.contextmanager
def completed(path: Path, size: int | None = None) -> Iterator[IO[bytes]]:
    """A stream to write to; the file is there if the block ends well, and nothing is there if it does not."""
    with writing(path, size):
        path.parent.mkdir(parents=True, exist_ok=True)
        stream, part = own_part(path)
        try:
            with stream:
                yield stream
                stream.flush()
                _put_in_place(stream, part, path)
        except BaseException:
            with contextlib.suppress(OSError):  # its folder may be gone
                part.unlink()
            raise


def own_part(path: Path) -> tuple[IO[bytes], Path]:
    """What nobody else writes to, nor removes while this process lives."""
    remove_leftovers(path)
    while True:
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        stream = part.open("xb")
        with contextlib.suppress(OSError):  # where the disk knows no locks, nobody removes it either
            fcntl.flock(stream, fcntl.LOCK_EX)
        if bears(stream, part):
            return stream, part
        stream.close()  # it was taken for a leftover before it had its lock


def remove_leftovers(path: Path) -> None:
    """Of writers of this file that are no more: nobody holds the lock."""
    left = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    for part in [entry for entry in path.parent.iterdir() if left.fullmatch(entry.name)]:
        with contextlib.suppress(OSError), part.open("r+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def bears(stream: IO[bytes], part: Path) -> bool:
    """Whether an open file is the one of that name."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(stream.fileno()), part.stat())
    return False


def _put_in_place(stream: IO[bytes], part: Path, path: Path) -> None:
    os.fsync(stream.fileno())
    part.replace(path)


def digest(stream: IO[bytes], algorithm: str) -> "hashlib._Hash":
    hashed = hashlib.new(algorithm, usedforsecurity=False)  # a check against damage
    while chunk := stream.read(CHUNK):
        hashed.update(chunk)
    return hashed


@contextlib.contextmanager
def writing(path: Path, missing: int | None = None, kept: str = "") -> Iterator[None]:
    """What the system refuses becomes an error that says what is lacking."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        refusal = _refusal(error)
        if refusal is None:
            raise
        reason = f"{path}: {refusal.strerror}"
        if refusal.errno in FULL:
            needed = "more room is" if missing is None else f"{missing:,} more bytes are"
            reason += f": {needed} needed, {shutil.disk_usage(path.parent).free:,} are free"
        raise UserError("; ".join(filter(None, (reason, kept, "fix that and run this again")))) from error


def _refusal(error: BaseException | None) -> OSError | None:
    """The system's, which torch.save covers with a RuntimeError about the file's length. One without a number is
    gzip's complaint about what is read."""
    while error is not None:
        if isinstance(error, OSError):
            return None if error.errno is None else error
        error = error.__context__
    return None
