"""Search for repeated pairs on disk: a file holds eight bytes per pair, memory one per pair and a slice of the file."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from realformer_nmt.corpora.preparing.prepare_record import PartCounts

AT_ONCE = 1 << 22  # number of hashes in memory


def digest(source: str, target: str) -> bytes:
    """Return a hash of eight bytes: among 40 million different pairs, two collide with probability 4 in 100,000."""
    return hashlib.blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def repetitions(digests: Path, at_once: int = AT_ONCE, held_out: Path | None = None) -> np.ndarray:
    """Return a flag per pair, which is true where the same pair came before or is held out."""
    values = read(digests)
    excluded = read(held_out) if held_out else values[:0]
    slices = -(-len(values) // at_once)
    repeated = np.zeros(len(values), dtype=bool)
    for part in range(slices):
        indices = indices_of(values, part, slices, at_once)
        hashes = values[indices]
        order = np.argsort(hashes, kind="stable")  # equal hashes keep the order in which they came
        ordered = hashes[order]
        later = order[1:][ordered[1:] == ordered[:-1]]  # all but the first of equal ones
        repeated[indices[later]] = True
        repeated[indices[np.isin(hashes, excluded[indices_of(excluded, part, slices, at_once)])]] = True
    return repeated


def read(digests: Path) -> np.ndarray:
    if not digests.stat().st_size:  # which cannot be mapped
        return np.zeros(0, dtype=np.uint64)
    return np.memmap(digests, dtype=np.uint64, mode="r")


def indices_of(values: np.ndarray, part: int, slices: int, at_once: int) -> np.ndarray:
    """Return the indices of the values whose remainder by `slices` is `part`."""
    indices = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(values), at_once):
        indices.append(start + np.flatnonzero(values[start : start + at_once] % np.uint64(slices) == part))
    return np.concatenate(indices)


def drop_repetitions(
    digests: Path, texts: Sequence[Path], tallies: Sequence[PartCounts], held_out: Path | None = None
) -> None:
    """Rewrite the texts with only the first of equal pairs, none that is held out, and correct the tallies."""
    repeated = repetitions(digests, held_out=held_out)
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
