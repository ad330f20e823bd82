"""Pairs of sentences: which blocks of two texts belong together, where a sentence ends, and what is a pair at all."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

SENTENCE_END = re.compile(r'(?<=[.!?…])["”»“)]?\s+(?=["„“«(]?[A-ZÀ-ÖØ-Þ])')
WORD = re.compile(r"[^\W\d_]{2,}")
LONGEST = (600, 800)  # characters, English and German


class Pair(NamedTuple):
    document: str
    english: str
    german: str


class Block(NamedTuple):
    kind: str  # its tags or its macro
    text: str


def is_pair(english: str, german: str) -> bool:
    """Tell whether both sides hold words, of plausible lengths, and are not the same."""
    letters = sum(character.isalpha() or character == " " for character in english)
    return (
        english != german
        and len(WORD.findall(english)) >= 3 <= len(english.split())
        and len(WORD.findall(german)) >= 2
        and 0.4 < len(english) / len(german) < 2.5
        and len(english) <= LONGEST[0]
        and len(german) <= LONGEST[1]
        and letters >= 0.6 * len(english)
    )


def sentence_pairs(english: str, german: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of two paragraphs one by one, or the paragraphs where their numbers differ."""
    sentences = [list(filter(None, SENTENCE_END.split(" ".join(text.split())))) for text in (english, german)]
    if len(sentences[0]) != len(sentences[1]):
        sentences = [[" ".join(english.split())], [" ".join(german.split())]]
    yield from (pair for pair in zip(*sentences, strict=True) if is_pair(*pair))


def align(english: list[Block], german: list[Block]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two documents whose blocks are of the same kinds in the same order, at least in runs."""
    kinds = [[block.kind for block in blocks] for blocks in (english, german)]
    for _, start, end, first, last in SequenceMatcher(a=kinds[0], b=kinds[1], autojunk=False).get_opcodes():
        if end - start == last - first:
            for one, other in zip(english[start:end], german[first:last], strict=True):
                pairs = sentence_pairs(one.text, other.text)
                yield from (pair for pair in pairs if kinds[0] == kinds[1] or 0.55 < len(pair[0]) / len(pair[1]) < 1.8)
