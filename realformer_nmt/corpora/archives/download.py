"""The download of one archive: resumed, from the first URL that delivers it, checked, and then renamed.

It uses urllib, which returns the bytes as they were sent. requests and httpx undo a Content-Encoding, which some
servers put on .tgz files, so that length, Range and hash would no longer match.
"""

import contextlib
import fcntl
import http.client
import itertools
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import IO

from tqdm import tqdm

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import CHUNK, digest, open_no_link, writing
from realformer_nmt.common.terminal import printable
from realformer_nmt.common.version import VERSION
from realformer_nmt.corpora.manifest_schema import Packing
from realformer_nmt.corpora.progress import progress

DELAYS = (1, 2, 4, 8, 16)  # seconds before the second attempt with a URL, the third ...
STALL = 60  # seconds that a silence may last
LEAST = 1 << 16  # bytes of an attempt that renews the patience
WORTH_A_RETRY = {408, 425, 429, 500, 502, 503, 504}
FAULTS = (OSError, http.client.HTTPException, ValueError, OverflowError)  # the last two for invalid redirections


class UnavailableError(Exception):
    """A file that no URL delivered; `args` are one reason per URL."""


class RefusedError(Exception):
    """Failure that another attempt with this URL would meet again."""


class CutError(Exception):
    """Failure that another attempt may not meet."""


def download(packing: Packing, folder: Path, quiet: bool = False) -> Path:
    """Download FOLDER/NAME and check its length and hash; if no URL delivers, FOLDER/NAME.part stays."""
    path = folder / packing.name
    part = path.with_name(f"{path.name}.part")
    reasons = []
    with _partial(part, packing.bytes) as stream, progress(packing.name, packing.bytes, quiet=quiet) as bar:
        transfer = _Transfer(packing, part, stream, bar)
        for url in packing.urls:
            try:
                transfer.run(url)
            except RefusedError as error:
                reasons.append(f"{url}: {printable(str(error))}")
            else:
                with writing(path):
                    os.fsync(stream.fileno())
                    part.replace(path)
                return path
    raise UnavailableError(*reasons)


def mismatch(path: Path, packing: Packing) -> str | None:
    """Return how a file differs from the packing that it should be, or None."""
    size = path.stat().st_size
    if packing.bytes not in (None, size):
        return f"{path}: has {size:,} bytes, expected are {packing.bytes:,}"
    algorithm, expected = packing.check
    with path.open("rb") as stream:
        actual = digest(stream, algorithm).hexdigest()
    return None if actual == expected else f"{path}: {algorithm} is {actual}, expected is {expected}"


@contextlib.contextmanager
def _partial(part: Path, size: int | None) -> Iterator[IO[bytes]]:
    """Open a partial file, which outlives the process, to append to it; one process at a time may."""
    with writing(part, size):
        part.parent.mkdir(parents=True, exist_ok=True)
        descriptor = open_no_link(part, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    with os.fdopen(descriptor, "a+b", buffering=0) as stream:  # so that a killed process loses no bytes
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{part}: another process is downloading it; wait, or end that process") from error
        yield stream
        if not os.fstat(stream.fileno()).st_size:
            part.unlink(missing_ok=True)


@dataclass
class _Transfer:
    """Attempts to get the rest of a partial file."""

    packing: Packing
    part: Path
    stream: IO[bytes]
    bar: tqdm

    @property
    def size(self) -> int:
        return os.fstat(self.stream.fileno()).st_size

    def run(self, url: str) -> None:
        """Make attempts with a URL until the file is complete; each that gets some of it renews the patience."""
        delays = iter(DELAYS)
        for attempt in itertools.count(1):
            before = self.size
            try:
                self._attempt(url, before)
            except CutError as error:
                if self.size - before >= LEAST:
                    delays = iter(DELAYS)
                delay = next(delays, None)
                if delay is None:
                    raise RefusedError(f"{error} ({attempt} attempts)") from error
                self.bar.write(f"{url}: {printable(str(error))}; again in {delay:g} s", file=sys.stderr)
                sleep(delay)
            else:
                return

    def _attempt(self, url: str, start: int) -> None:
        """Get the bytes from `start` on and check the file; a resumed one that is wrong is begun again."""
        try:
            self._receive(url, start)
        except urllib.error.HTTPError as error:
            if error.code != 416 or not start:  # 416: the file may be complete, as when a run ends just before renaming
                kind = CutError if error.code in WORTH_A_RETRY else RefusedError
                raise kind(f"HTTP status {error.code}, {error.reason}") from error
        except FAULTS as error:
            raise CutError(str(getattr(error, "reason", error)) or type(error).__name__) from error
        difference = mismatch(self.part, self.packing)
        if difference:
            self._restart()
            raise (CutError if start else RefusedError)(difference)

    def _receive(self, url: str, start: int) -> None:
        opener = urllib.request.build_opener()
        ranges = [("Range", f"bytes={start}-")] if start else []
        opener.addheaders = [("User-Agent", f"realformer-nmt/{VERSION}"), *ranges]
        with opener.open(url, timeout=STALL) as response:
            scheme = "https" if url.startswith("https") else "http"  # not ftp, to which urllib follows a redirection
            if not response.url.startswith(scheme):
                raise RefusedError(f"redirects to {response.url}, which is not {scheme}")
            if response.status != 206:  # the server ignores Range and sends everything
                self._restart()
            self._append(response)

    def _append(self, response: http.client.HTTPResponse) -> None:
        """Append what arrives, up to the length of the file."""
        offered = response.length and self.size + response.length  # None if the server does not say
        length = self.packing.bytes or offered
        if offered and offered != length:
            raise RefusedError(f"offers {offered:,} bytes, allowed are {length:,}")
        self.bar.total = length
        self.bar.update(self.size - self.bar.n)
        while chunk := response.read1(CHUNK):  # what has arrived, so that a cut loses nothing
            if length and self.size + len(chunk) > length:
                self._restart()
                raise RefusedError(f"sends more than the {length:,} bytes that are allowed")
            self._write(chunk)
        if length and self.size < length:
            raise CutError(f"was cut after {self.size:,} of {length:,} bytes")

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        missing = None if self.packing.bytes is None else self.packing.bytes - self.size
        with writing(self.part, missing, note="what has come stays there"):
            while rest:
                rest = rest[self.stream.write(rest) :]
        self.bar.update(len(chunk))

    def _restart(self) -> None:
        self.stream.truncate(0)
        self.bar.reset()
