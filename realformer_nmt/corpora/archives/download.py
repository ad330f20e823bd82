"""The download of one archive: resumed, from the first URL that delivers it, checked, and then renamed."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from realformer_nmt.corpora.archives.http_range import (
    CutError,
    MisplacedError,
    PermanentError,
    RangeAnswer,
    TransferError,
    get,
)
from realformer_nmt.corpora.archives.minimum_rate import Pace
from realformer_nmt.corpora.archives.partial_download import Partial
from realformer_nmt.corpora.manifest_schema import Packing
from realformer_nmt.corpora.progress import progress

LARGEST = 32 << 30  # bytes: ten times the largest archive of WMT'14
PROGRESS = 1 << 20  # bytes: an attempt that got as many resets the delays


class UnavailableError(Exception):
    """A file that no URL delivered, with one reason per URL."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True)
class Patience:
    """How often a download from a URL is tried again, and how slow it may be."""

    delays: tuple[float, ...] = (1, 2, 4, 8, 16)  # seconds before the second attempt, the third ...
    stall: float = 60  # seconds; fewer than `least` bytes in them end an attempt
    least: int = 1 << 16
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


PATIENCE = Patience()


def download(packing: Packing, folder: Path, patience: Patience = PATIENCE, quiet: bool = False) -> Path:
    """Download FOLDER/NAME and check its length and hash; if no URL delivers, FOLDER/NAME.part stays."""
    reasons = []
    with (
        Partial(folder / packing.name, packing.check[0], packing.bytes) as partial,
        progress(packing.name, packing.bytes, partial.size, quiet) as bar,
    ):
        for url in packing.urls:
            try:
                _Transfer(url, packing, partial, bar).run(patience)
            except PermanentError as error:
                reasons.append(f"{url}: {error}")
            else:
                return partial.finish()
    raise UnavailableError(reasons)


@dataclass
class _Transfer:
    """All attempts with one URL; `foreign` while the partial file has bytes from an earlier run or another URL."""

    url: str
    packing: Packing
    partial: Partial
    bar: tqdm

    def __post_init__(self) -> None:
        self.foreign = self.partial.size > 0

    def run(self, patience: Patience) -> None:
        delays = iter(patience.delays)
        attempts = 0
        while True:
            before, attempts = self.partial.size, attempts + 1
            try:
                return self._attempt(lambda: Pace(patience.stall, patience.least, patience.clock))
            except PermanentError:
                raise
            except TransferError as error:
                if self.partial.size - before >= PROGRESS:
                    delays = iter(patience.delays)
                delay = next(delays, None)
                if delay is None:
                    raise PermanentError(f"{error} ({attempts} attempts)") from error
                self.bar.write(f"{self.url}: {error}; again in {delay:g} s", file=sys.stderr)
                patience.sleep(delay)

    def _attempt(self, pace: Callable[[], Pace]) -> None:
        try:
            if self.partial.size != self.packing.bytes:  # complete if the last run ended just before renaming
                with get(self.url, self.partial.size, pace) as answer:
                    self._take(answer)
        except MisplacedError:
            self._restart()
            raise
        self._check()

    def _take(self, answer: RangeAnswer) -> None:
        expected = self.packing.bytes
        if expected is not None and answer.length not in (None, expected):
            raise PermanentError(f"offers {answer.length:,} bytes, expected are {expected:,}")
        length = expected or answer.length
        most = LARGEST if length is None else length
        if most > LARGEST:
            raise PermanentError(f"offers {most:,} bytes, more than the {LARGEST:,} that are allowed")
        if answer.start != self.partial.size:
            self._restart()
        self.bar.total = length
        for chunk in answer.chunks:
            if self.partial.size + len(chunk) > most:
                self._restart()
                raise PermanentError(f"sends more than the {most:,} bytes that are expected")
            self.partial.append(chunk)
            self.bar.update(len(chunk))
        if length is not None and self.partial.size < length:
            raise CutError(f"was cut after {self.partial.size:,} of {length:,} bytes")

    def _check(self) -> None:
        """Raise if the hash is wrong, and discard the bytes; retry this URL if some of them are not from it."""
        algorithm, expected = self.packing.check
        actual, size = self.partial.hexdigest, self.partial.size
        if actual == expected:
            return
        kind = CutError if self.foreign else PermanentError
        self._restart()
        raise kind(f"{self.packing.name}: {algorithm} of the {size:,} bytes is {actual}, expected is {expected}")

    def _restart(self) -> None:
        self.partial.restart()
        self.bar.reset()
        self.foreign = False
