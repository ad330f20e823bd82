"""Conversion of subwords to text: to tokens, as the papers score them, and to raw text."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.subwords import MODEL, sentencepiece_model

JOINT = re.compile(r"@@( |$)")
Lines = list[str]


class Surface(NamedTuple):
    tokenised: Lines | None  # tokens between spaces; None if the subwords were learnt from raw text
    raw: Lines


def join_bpe(lines: Iterable[str]) -> Lines:
    """Return the lines without the marks @@ that BPE (subword-nmt) puts between the subwords of a word."""
    return [JOINT.sub("", line) for line in lines]


def from_moses_bpe(lines: Lines, _: Path | None, language: str) -> Surface:
    from sacremoses import MosesDetokenizer  # here: the commands' --help does not wait for it

    detokenise = MosesDetokenizer(language).detokenize
    tokenised = join_bpe(lines)
    return Surface(tokenised, [detokenise(line.split(), unescape=True) for line in tokenised])


def from_sentencepiece(lines: Lines, folder: Path | None, _: str) -> Surface:
    if folder is None:
        raise UserError(f"the folder of {MODEL} is needed to join its pieces: pass --subwords-folder")
    model = sentencepiece_model(folder)
    return Surface(None, [model.decode(line.split()) for line in lines])


def from_words(lines: Lines, _: Path | None, __: str) -> Surface:
    return Surface(lines, lines)


SURFACES: dict[str, Callable[[Lines, Path | None, str], Surface]] = {
    "sentencepiece": from_sentencepiece,
    "moses_bpe": from_moses_bpe,
    "none": from_words,
}
