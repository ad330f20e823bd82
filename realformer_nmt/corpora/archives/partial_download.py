"""A download that is not complete: FILE.part, which the next run goes on with."""

import fcntl
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import IO

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import digest, open_no_link, writing


class Partial:
    """A download to NAME.part, which outlives the process; one process at a time may append to it."""

    def __init__(self, path: Path, algorithm: str, whole: int | None) -> None:
        self.path, self.part, self._whole = path, path.with_name(f"{path.name}.part"), whole
        self._algorithm = algorithm
        with writing(path, whole):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._locked()
        self._stream.seek(0)
        self._hash = digest(self._stream, algorithm)
        self.size = self._stream.tell()

    def _locked(self) -> IO[bytes]:
        while True:
            descriptor = open_no_link(self.part, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            stream = os.fdopen(descriptor, "a+b", buffering=0)  # so that a killed process loses no bytes
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                stream.close()
                raise UserError(f"{self.part}: another process is downloading it; wait, or end that process") from error
            if self.part.exists() and os.path.samestat(os.fstat(stream.fileno()), self.part.stat()):
                return stream
            stream.close()  # another process has just renamed it

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
        with writing(self.path, missing, note=f"what has come stays in {self.part.name}"):
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
            os.fsync(self._stream.fileno())
            self.part.replace(self.path)
        return self.path
