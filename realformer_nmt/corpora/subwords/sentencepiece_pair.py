"""Two models of sentencepiece, one for each side, as imported models have them.

A model for several target languages has tags such as >>fra<<: one at the start of a source line stays one subword.
"""

import functools
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.corpora.subwords import sentencepiece_subwords
from realformer_nmt.corpora.subwords.sentencepiece_subwords import SPACE
from realformer_nmt.corpora.subwords.subword_methods import SOURCE_MODEL, TAGS, TARGET_MODEL
from realformer_nmt.corpora.subwords.subwords import Encoder, Lines, Surface

OPENING, CLOSING = ">>", "<<"


def encoder(folder: Path) -> Encoder:
    tags = read_lines(folder / TAGS)
    encode = sentencepiece_subwords.encoder(folder, SOURCE_MODEL)
    return functools.partial(encode_tagged, encode, tags) if tags else encode


def target_encoder(folder: Path) -> Encoder:
    return sentencepiece_subwords.encoder(folder, TARGET_MODEL)


def detokenise(lines: Lines, folder: Path | None, language: str) -> Surface:
    """Join the subwords of lines; those of a joint vocabulary that only the source's model has join as well."""
    joined = sentencepiece_subwords.detokenise(lines, folder, language, TARGET_MODEL)
    return joined._replace(raw=[text.replace(SPACE, " ").strip() for text in joined.raw])


def encode_tagged(encode: Encoder, tags: Lines, lines: Lines) -> Lines:
    split = [split_tag(line, tags) for line in lines]
    subwords = encode([text for _, text in split])
    return [f"{tag} {rest}".strip() for (tag, _), rest in zip(split, subwords, strict=True)]


def split_tag(line: str, tags: Lines) -> tuple[str, str]:
    """Return the tag at the start of a line, and the rest; a line may have none."""
    name, closing, text = line.removeprefix(OPENING).partition(CLOSING)
    if not line.startswith(OPENING) or not closing:
        return "", line
    tag = f"{OPENING}{name}{CLOSING}"
    if tag not in tags:
        raise UserError(f"a line begins with {tag}, and the model's languages are {' '.join(tags)}: give one of these")
    return tag, text
