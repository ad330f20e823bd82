"""Sentences as numbers of words, and the .bin and .idx that fairseq-preprocess would write of them.

A block of sentences at a time is in memory, so that it does not grow with the corpus.
"""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from realformer_nmt.data_bins.index import HEADER, KINDS, MAGIC, VERSION
from realformer_nmt.data_bins.vocabulary import END, SYMBOLS, UNKNOWN

CODES = {np.dtype(kind): code for code, kind in KINDS.items()}
BLOCK = 1 << 20  # lengths read at a time


class NumberedText(NamedTuple):
    """Sentences whose words are numbers of a dictionary."""

    lengths: np.ndarray
    words: np.ndarray  # of all sentences, one after another


def numbered(text: bytes, vocabulary: str) -> NumberedText:
    """Return the lines of a text as numbers of words, each with the end of a sentence after it.

    `vocabulary` has the words of a dictionary, a line each: one string goes to a worker process sooner than a table."""
    numbers = number_of(vocabulary)
    lengths, words = [], []
    for line in text.decode().removesuffix("\n").split("\n"):
        sentence = line.split()
        lengths.append(len(sentence) + 1)
        words += [numbers.get(word, UNKNOWN) for word in sentence]
        words.append(END)
    return NumberedText(np.array(lengths), np.array(words))


@functools.lru_cache(maxsize=2)
def number_of(vocabulary: str) -> dict[str, int]:
    return {word: number for number, word in enumerate([*SYMBOLS, *vocabulary.split("\n")])}


def write(prefix: Path, vocabulary_size: int, blocks: Iterable[NumberedText]) -> int:
    """Write PREFIX.bin and PREFIX.idx, and return the number of sentences."""
    kind = np.dtype("<u2" if vocabulary_size < 65_500 else "<u4")
    count = 0
    with Path(f"{prefix}.bin").open("wb") as data, Path(f"{prefix}.idx").open("w+b") as index:
        index.seek(HEADER.size)
        for lengths, words in blocks:
            data.write(words.astype(kind).tobytes())
            index.write(lengths.astype("<i4").tobytes())
            count += len(lengths)
        write_offsets(index, count, kind.itemsize)
        index.seek(0)
        index.write(HEADER.pack(MAGIC, VERSION, CODES[kind], count))
    return count


def write_offsets(index: BinaryIO, count: int, bytes_per_word: int) -> None:
    """Write where each sentence begins in the .bin, after the lengths that are in the index already."""
    end = 0
    for first in range(0, count, BLOCK):
        index.seek(HEADER.size + 4 * first)
        lengths = np.frombuffer(index.read(4 * min(BLOCK, count - first)), "<i4") * np.int64(bytes_per_word)
        ends = end + lengths.cumsum()
        index.seek(HEADER.size + 4 * count + 8 * first)
        index.write((ends - lengths).astype("<i8").tobytes())
        end = int(ends[-1])
