"""What every subword method takes and returns; its own files are moses_bpe.py and sentencepiece_subwords.py."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.corpora.progress import watched
from realformer_nmt.corpora.read_segments import Block, blocks

Lines = list[str]
Encoder = Callable[[Lines], Lines]  # lines to lines of subwords, separated by spaces
MODEL, DICTIONARY, CODES = "sentencepiece.model", "dictionary.txt", "bpe.codes"


class Texts(NamedTuple):
    source: Path
    target: Path
    pairs: int
    quiet: bool = False  # no progress bars

    def blocks(self) -> Iterator[Block]:
        return watched(blocks(self.source, self.target), "subwords: reading", self.source, self.target, self.quiet)


class Surface(NamedTuple):
    tokenised: Lines | None  # tokens between spaces; None if the subwords were learnt from raw text
    raw: Lines


def split(lines: bytes) -> list[str]:
    return lines.decode().split("\n")[:-1]
