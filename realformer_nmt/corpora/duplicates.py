"""Exact repetitions of pairs, found on disk: eight bytes a pair in a file, a slice of them at a time in memory."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

AT_ONCE = 1 << 22  # hashes in memory


def digest(source: str, target: str) -> bytes:
    """Two of 40 million different pairs are taken for equal with a probability of 4 in 100,000."""
    return hashlib.blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def repetitions(digests: Path, at_once: int = AT_ONCE) -> np.ndarray:
    """For every pair whether the same one came before it, as a bit (numpy.packbits) a pair."""
    number = digests.stat().st_size // 8
    if not number:
        return np.zeros(0, dtype=np.uint8)
    values = np.memmap(digests, dtype=np.uint64, mode="r")
    slices = -(-number // at_once)
    repeated = np.zeros(number, dtype=bool)
    for part in range(slices):
        places = np.concatenate(list(places_of(values, part, slices, at_once)))
        chosen = values[places]
        order = np.argsort(chosen, kind="stable")  # equal ones keep the order in which they came
        ordered = chosen[order]
        repeated[places[order[1:][ordered[1:] == ordered[:-1]]]] = True
    return np.packbits(repeated)


def places_of(values: np.ndarray, part: int, slices: int, at_once: int) -> Iterator[np.ndarray]:
    for start in range(0, len(values), at_once):
        yield start + np.flatnonzero(values[start : start + at_once] % np.uint64(slices) == part)
