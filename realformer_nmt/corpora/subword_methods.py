"""Two methods to split text into subwords, learnt from both sides of the training text together."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import moses_bpe, sentencepiece_subwords
from realformer_nmt.corpora.subwords import CODES, DICTIONARY, MODEL, Encoder, Lines, Surface, Texts


class Method(NamedTuple):
    tokenised: bool  # whether the text is first tokenised by Moses' rules
    learn: Callable[[Texts, Path, int, int], None]
    load: Callable[[Path], Encoder]
    files: tuple[str, ...]


METHODS = {
    "sentencepiece": Method(False, sentencepiece_subwords.learn, sentencepiece_subwords.encoder, (MODEL, DICTIONARY)),
    "moses_bpe": Method(True, moses_bpe.learn, moses_bpe.MosesBpe, (CODES,)),
}


def from_words(lines: Lines, _: Path | None, __: str) -> Surface:
    return Surface(lines, lines)


SURFACES: dict[str, Callable[[Lines, Path | None, str], Surface]] = {
    "sentencepiece": sentencepiece_subwords.detokenise,
    "moses_bpe": moses_bpe.detokenise,
    "none": from_words,
}


@functools.cache
def encoder(method: str, folder: Path) -> Encoder:
    """Return the encoder of a subword model, one per process because of its memory."""
    for name in METHODS[method].files:
        if (folder / name).is_fifo():
            raise UserError(f"{folder / name} is a pipe, which can be read only once: write it to a file first")
    return METHODS[method].load(folder)
