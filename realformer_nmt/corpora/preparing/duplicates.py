"""Search for repeated pairs on disk: a file holds eight bytes per pair, memory one per pair and a slice of the file."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from realformer_nmt.corpora.preparing.prepare_record import PartCounts

AT_ONCE = 1 << 22  # number of hashes in memory


def digest(source: str, target: str) -> bytes:
    """Return a hash of eight bytes: among 40 million different pairs, two collide with probability 4 in 100,000."""
    return hashlib.blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def repetitions(digests: Path, at_once: int = AT_ONCE) -> np.ndarray:
    """Return a flag per pair, which is true where the same pair came before."""
    number = digests.stat().st_size // 8
    repeated = np.zeros(number, dtype=bool)
    if not number:
        return repeated
    values = np.memmap(digests, dtype=np.uint64, mode="r")
    slices = -(-number // at_once)
    for part in range(slices):
        indices = np.concatenate(list(indices_of(values, part, slices, at_once)))
        hashes = values[indices]
        order = np.argsort(hashes, kind="stable")  # equal hashes keep the order in which they came
        ordered = hashes[order]
        later = order[1:][ordered[1:] == ordered[:-1]]  # all but the first of equal ones
        repeated[indices[later]] = True
    return repeated


def indices_of(values: np.ndarray, part: int, slices: int, at_once: int) -> Iterator[np.ndarray]:
    """Yield the indices of the values whose remainder by `slices` is `part`."""
    for start in range(0, len(values), at_once):
        yield start + np.flatnonzero(values[start : start + at_once] % np.uint64(slices) == part)


def drop_repetitions(digests: Path, texts: Sequence[Path], tallies: Sequence[PartCounts]) -> None:
    """Rewrite the texts with only the first of equal pairs, and correct the tallies."""
    repeated = repetitions(digests)
    for path in texts:
        slim = path.with_name(f"{path.name}.slim")
        with path.open("rb") as lines, slim.open("wb") as out:
            out.writelines(line for number, line in enumerate(lines) if not repeated[number])
        slim.replace(path)
    start = 0
    for tally in tallies:
        repetitions_of_part = int(repeated[start : start + tally.kept].sum())
        start += tally.kept
        tally.kept -= repetitions_of_part
        tally.drop({"repeated": repetitions_of_part})
