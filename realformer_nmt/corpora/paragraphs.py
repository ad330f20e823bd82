"""Texts of several sentences: cut into sentences, and put together again from their translations.

Rules in the manner of Moses' split-sentences.perl, with its lists of abbreviations. Letters without case, as in Arabic
or Hindi, may begin a sentence, too.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import regex

WIDE_STOPS = "\u3002\uff0e\uff61\uff01\uff1f"  # full-width, of Chinese and Japanese: no white space follows them
IN_NUMBER = r"(?<=\p{N}\uff0e)\p{N}"  # after the full-width point of one
CLOSING = r"""["'\p{Pi}\p{Pf}\p{Pe}]"""  # German quotes close with a mark that opens English ones
GAP = regex.compile(
    rf"(?<!\s)(?:[^\S\n]*+\n\s*+|\s++(?![\p{{Pf}}\p{{Pe}}]+(?:\s|$)))"
    rf"|(?<=[{WIDE_STOPS}])(?![{WIDE_STOPS}\s]|{CLOSING}|{IN_NUMBER}|$)"
)
ENDING = regex.compile(rf"(?<![\p{{STerm}}…])([\p{{STerm}}…]++)((?:\s*{CLOSING})*+)$")
BEGINNING = regex.compile(r"""(?:["'¿¡\p{Ps}\p{Pi}]\s*+|\p{Pf}(?=\S))*+(?!\p{Ll})[\p{L}\p{N}]""")
OPENING = regex.compile(r"""^["'¿¡\p{Ps}\p{Pi}\p{Pf}]+""")
ACRONYM = regex.compile(r"(?:\p{L}\.)+\p{L}")
LANGUAGE_TAG = regex.compile(r">>\S+<<\s*|")  # with which a line says what a model of many targets shall write
ONLY_BEFORE_NUMBERS = " #NUMERIC_ONLY#"  # Moses' mark of an abbreviation


class Paragraph(NamedTuple):
    indent: str
    sentences: list[str]  # an empty one in a text without any
    gaps: list[str]  # white space after each sentence

    def joined(self, translations: Iterator[str]) -> str:
        """Return the text of the next translations, without a space after the stops of Chinese and Japanese."""
        text = self.indent
        for gap in self.gaps:
            translation = next(translations)
            text += translation if gap == " " and translation.endswith(tuple(WIDE_STOPS)) else translation + gap
        return text


class Paragraphs:
    """Texts as one list of sentences."""

    def __init__(self, texts: Iterable[str], language: str, split_sentences: bool) -> None:
        """Cut texts of a language, such as de or de_DE; or take each text as one sentence.

        English's list of abbreviations serves languages of which Moses has none.
        """
        if split_sentences:
            abbreviations = read_abbreviations(regex.split("[-_]", language)[0])
            self.paragraphs = [cut(text, abbreviations) for text in texts]
        else:
            self.paragraphs = [Paragraph("", [text], [""]) for text in texts]
        self.sentences = [sentence for paragraph in self.paragraphs for sentence in paragraph.sentences]

    def numbers(self) -> list[int]:
        """Return the number of each sentence's text, from 1."""
        return [number for number, paragraph in enumerate(self.paragraphs, 1) for _ in paragraph.sentences]

    def joined(self, translations: Iterable[str]) -> list[str]:
        """Return the texts with each sentence replaced by its translation."""
        rest = iter(translations)
        return [paragraph.joined(rest) for paragraph in self.paragraphs]


@functools.cache
def read_abbreviations(language: str) -> frozenset[str]:
    from sacremoses.corpus import NonbreakingPrefixes  # here: the commands' --help does not wait for it

    return frozenset(NonbreakingPrefixes().words(language))


def cut(text: str, abbreviations: frozenset[str]) -> Paragraph:
    body = text.strip()
    indent, _, tail = text.partition(body) if body else (text, "", "")
    sentences, gaps = [], []
    first = start = 0  # of the sentence, and of its last word
    for gap in GAP.finditer(body):
        word, first_word = body[start : gap.start()], start == first
        start = gap.end()
        if "\n" in gap[0] or not gap[0] or is_end(word, body, start, first_word, abbreviations):
            sentences.append(body[first : gap.start()])
            gaps.append(gap[0] or " ")
            first = start
    sentences.append(body[first:])
    tag = LANGUAGE_TAG.match(body)[0]
    return Paragraph(indent, [sentences[0], *(tag + sentence for sentence in sentences[1:])], [*gaps, tail])


def is_end(word: str, text: str, following: int, alone: bool, abbreviations: frozenset[str]) -> bool:
    """Return whether a sentence ends with a word; it is `alone` as the first of the sentence."""
    ending = ENDING.search(word)
    if not ending or not BEGINNING.match(text, following):
        return False
    stem = OPENING.sub("", word[: ending.start()])
    if alone and not regex.search(r"\p{L}", stem):  # the number of an item
        return False
    if ending[0] != ".":
        return True
    is_number = text[following].isdigit()
    is_abbreviation = stem in abbreviations or (is_number and stem + ONLY_BEFORE_NUMBERS in abbreviations)
    return not is_abbreviation and not ACRONYM.fullmatch(stem)
