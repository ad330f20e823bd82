"""A question and a part of its context as one sequence: <s> question </s> </s> context </s>.

A context that is too long for one window has several, which overlap (Devlin et al. 2019, as their code has it).
"""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairseq.data import Dictionary

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.data_bins.note import demand_prepared
from realformer_nmt.questions.squad import Question

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

MODEL = "sentencepiece.model"
SPACE, BYTE = "\u2581", re.compile("<0x([0-9A-F]{2})>")  # in pieces
REMEMBERED = 200_000  # words
KEPT = 4  # a question is cut after one window in so many
NONE = (0, 0)  # the span of no answer: at <s>


class Pieces(NamedTuple):
    names: list[str]
    begins: list[int]  # in characters of the text
    ends: list[int]


class Window(NamedTuple):
    question: int  # its place among the questions
    tokens: list[int]
    context: int  # where the context begins in the tokens
    first: int  # which piece of the context stands there
    span: tuple[int, int]  # the answer's first and last token


Cut = Callable[[str], Pieces]


def cut_of(folder: Path) -> Cut:
    """By the sentencepiece model of a folder, or else at white space."""
    path = folder / MODEL
    demand_prepared(path)
    if not path.exists():
        return words
    from sentencepiece import SentencePieceProcessor  # here: who trains another task does not wait for it

    try:
        model = SentencePieceProcessor(model_proto=path.read_bytes())
    except (OSError, RuntimeError) as error:
        raise UserError(f"{path} is no model of sentencepiece's: give that of the masked model's text") from error
    return sentencepieces(model)


def fingerprint(folder: Path) -> str:
    """Of what its texts are cut by."""
    path = folder / MODEL
    return sha256(path) if path.exists() else "white space"


def words(text: str) -> Pieces:
    found = list(re.finditer(r"\S+", text))
    return Pieces([word[0] for word in found], [word.start() for word in found], [word.end() for word in found])


def sentencepieces(model: "SentencePieceProcessor") -> Cut:
    """Word by word, which pieces do not cross. Where the model normalises text, places within a word are near ones."""
    encode = functools.lru_cache(REMEMBERED)(functools.partial(model.encode, out_type=str))

    def cut(text: str) -> Pieces:
        found = Pieces([], [], [])
        for word in re.finditer(r"\S+", text):
            names = encode(word[0])
            ends = [min(word.start() + end, word.end()) for end in accumulate(map(letters, names))]
            found.names.extend(names)
            found.begins.extend([word.start(), *ends][: len(ends)])
            found.ends.extend(ends)
        return found

    return cut


def letters(piece: str) -> int:
    """That a piece adds: a byte adds one if it is the first of a character."""
    byte = BYTE.fullmatch(piece)
    return int(int(byte[1], 16) & 0xC0 != 0x80) if byte else len(piece.replace(SPACE, ""))


def windows(questions: list[Question], cut: Cut, dictionary: Dictionary, length: int, stride: int) -> Iterator[Window]:
    cut_context = functools.lru_cache(maxsize=8)(cut)  # several questions are about one
    for number, asked in enumerate(questions):
        inner = [dictionary.index(name) for name in cut(asked.text).names][: length // KEPT]
        head = [dictionary.bos(), *inner, dictionary.eos(), dictionary.eos()]
        pieces = cut_context(asked.context)
        context = [dictionary.index(name) for name in pieces.names]
        answer = place(pieces, asked)
        room = length - len(head) - 1
        for first in beginnings(len(context), room, stride):
            held = context[first : first + room]
            span = NONE
            if answer and first <= answer[0] and answer[1] < first + len(held):
                span = (answer[0] - first + len(head), answer[1] - first + len(head))
            yield Window(number, [*head, *held, dictionary.eos()], len(head), first, span)


def beginnings(number: int, room: int, stride: int) -> Iterator[int]:
    """Of windows that together hold everything, the last one to the end."""
    yield 0
    step = min(stride, room)
    yield from range(step, number - room + step, step)


def place(pieces: Pieces, asked: Question) -> tuple[int, int] | None:
    """The first and last piece that hold a character of the first answer."""
    if not asked.answers or not pieces.names:
        return None
    answer = asked.answers[0]
    first = bisect_right(list(accumulate(pieces.ends, max)), answer.start)
    last = bisect_left(pieces.begins, answer.start + len(answer.text)) - 1
    return first, max(first, last)


def text_of(pieces: Pieces, context: str, first: int, last: int) -> str:
    return context[pieces.begins[first] : pieces.ends[last]].strip()
