"""Search for repeated pairs by hashes in memory, eight bytes per pair."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from realformer_nmt.corpora.preparing.prepare_record import PartCounts


def digest(source: str, target: str) -> bytes:
    """Return a hash of eight bytes: among 40 million different pairs, two collide with probability 4 in 100,000."""
    return hashlib.blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def repetitions(digests: bytes | bytearray, held_out: bytes | bytearray = b"") -> np.ndarray:
    """Return a flag per pair, which is true where the same pair came before or is held out."""
    hashes, excluded = (np.frombuffer(each, dtype=np.uint64) for each in (digests, held_out))
    repeated = np.isin(hashes, excluded)
    order = np.argsort(hashes, kind="stable")  # equal hashes keep the order in which they came
    ordered = hashes[order]
    repeated[order[1:][ordered[1:] == ordered[:-1]]] = True  # all but the first of equal ones
    return repeated


def drop_repetitions(repeated: np.ndarray, texts: Sequence[Path], tallies: Sequence[PartCounts]) -> None:
    """Rewrite the texts without the repeated pairs, and correct the tallies."""
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
