"""A reader and checks of fairseq's mmap index, the .idx file beside every .bin of a data-bin.

It has a header, then the length of every sentence, then its offset in the .bin, which follows from the lengths.
"""

import struct
from pathlib import Path

import numpy as np

from realformer_nmt.common.errors import UserError

HEADER = struct.Struct("<9sQBQ")  # magic, version, type of the numbers, number of sentences
MAGIC, VERSION = b"MMIDIDX\x00\x00", 1
KINDS = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2", 9: "<u4", 10: "<u8"}  # of the integer types
AGAIN = "binarise the text again with `realformer-nmt prepare`, or fairseq-preprocess"
BLOCK = 1 << 22  # numbers checked at a time


def header(index: Path) -> tuple[np.dtype, int]:
    """Return the type of the numbers, and the number of sentences."""
    if not index.is_file():
        raise UserError(f"{index}: no such file; {AGAIN}")
    with index.open("rb") as file:
        read = file.read(HEADER.size)
    magic, version, code, count = HEADER.unpack(read) if len(read) == HEADER.size else (b"", 0, 0, 0)
    if (magic, version) != (MAGIC, VERSION) or code not in KINDS:
        raise UserError(f"{index} is no index of fairseq's format mmap with whole numbers, or not all of one; {AGAIN}")
    if not count:
        raise UserError(f"{index} holds no sentence; {AGAIN}")
    size, expected = index.stat().st_size, HEADER.size + 12 * count
    if size != expected:
        raise UserError(f"{index} has {size:,} bytes, and not {expected:,} for its {count:,} sentences; {AGAIN}")
    return np.dtype(KINDS[code]), count


def check_sound(index: Path, vocabulary_size: int | None, dictionary: object) -> int:
    """Check that each sentence is within the .bin and has words of the dictionary; return the number of sentences.

    `vocabulary_size` is None without a dictionary, as for alignments; then a sentence may be empty."""
    kind, count = header(index)
    data = index.with_name(index.name.removesuffix("idx") + "bin")
    size = data.stat().st_size if data.is_file() else 0
    expected = check_places(index, kind, count, 0 if vocabulary_size is None else 1)
    if size != expected or not size:
        raise UserError(f"{data} has {size:,} bytes, and {index.name} says {expected:,}: it is cut off; {AGAIN}")
    numbers = np.memmap(data, kind, "r")
    for at in range(0, len(numbers), BLOCK):
        lowest, highest = int(numbers[at : at + BLOCK].min()), int(numbers[at : at + BLOCK].max())
        if lowest < 0:
            raise UserError(f"{data} holds word {lowest:,}: it is damaged; {AGAIN}")
        if vocabulary_size is not None and highest >= vocabulary_size:
            raise UserError(
                f"{data} holds word {highest:,}, but {dictionary} has {vocabulary_size:,}: "
                f"it is another corpus's dictionary; {AGAIN}"
            )
    return count


def check_places(index: Path, kind: np.dtype, count: int, shortest: int) -> int:
    """Check that sentences follow each other without a gap, as fairseq writes them; return where the last one ends."""
    end = 0
    for first in range(0, count, BLOCK):
        number = min(BLOCK, count - first)
        lengths = np.fromfile(index, "<i4", number, offset=HEADER.size + 4 * first).astype(np.int64)
        offsets = np.fromfile(index, "<i8", number, offset=HEADER.size + 4 * count + 8 * first)
        if lengths.min() < shortest:
            at = first + int(lengths.argmin())
            raise UserError(f"{index}: sentence {at + 1:,} has {lengths.min():,} tokens: it is damaged; {AGAIN}")
        ends = end + lengths.cumsum() * kind.itemsize
        wrong = np.flatnonzero(offsets != ends - lengths * kind.itemsize)
        if wrong.size:
            where = f"sentence {first + int(wrong[0]) + 1:,} begins at byte {offsets[wrong[0]]:,}"
            raise UserError(f"{index}: {where}, not where the one before ends: it is damaged; {AGAIN}")
        end = int(ends[-1])
    return end
