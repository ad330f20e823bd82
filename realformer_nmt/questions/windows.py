"""A question and a part of its context as one sequence: <s> question </s> </s> context </s>.

A context that is too long for one window has several, which overlap, as in the code of Devlin et al. 2019.
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
from realformer_nmt.data_bins.file_checks import check_prepared
from realformer_nmt.questions.squad import Question

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

MODEL = "sentencepiece.model"
BYTE = re.compile("<0x([0-9A-F]{2})>")  # as a subword
CACHED = 200_000  # words
MOST_QUESTION = 4  # a question has at most this part of a window: 1/4
NO_ANSWER = (0, 0)  # its span: <s>


class Subwords(NamedTuple):
    names: list[str]
    starts: list[int]  # in characters of the text
    ends: list[int]


class Window(NamedTuple):
    question: int  # index among the questions
    tokens: list[int]
    context: int  # index of the token where the context begins
    first: int  # index of that token among the context's subwords
    span: tuple[int, int]  # the answer's first and last token


Cut = Callable[[str], Subwords]


def cut_of(folder: Path) -> Cut:
    """Return how a folder's texts are cut into subwords: by its sentencepiece model, or else at white space."""
    path = folder / MODEL
    check_prepared(path)
    if not path.exists():
        return split_at_spaces
    from sentencepiece import SentencePieceProcessor  # here: no other task needs it

    try:
        model = SentencePieceProcessor(model_proto=path.read_bytes())
    except (OSError, RuntimeError) as error:
        raise UserError(f"{path} is no model of sentencepiece's: give that of the masked model's text") from error
    return sentencepieces(model)


def split_at_spaces(text: str) -> Subwords:
    matches = list(re.finditer(r"\S+", text))
    return Subwords(
        names=[word[0] for word in matches],
        starts=[word.start() for word in matches],
        ends=[word.end() for word in matches],
    )


def sentencepieces(model: "SentencePieceProcessor") -> Cut:
    """Return a function that cuts texts word by word, as no subword crosses a space."""
    encode = functools.lru_cache(CACHED)(functools.partial(word_subwords, model))

    def cut(text: str) -> Subwords:
        subwords = Subwords([], [], [])
        for word in re.finditer(r"\S+", text):
            names, ends = encode(word[0])
            subwords.names.extend(names)
            subwords.starts.extend([word.start(), *(word.start() + end for end in ends)][: len(ends)])
            subwords.ends.extend(word.start() + end for end in ends)
        return subwords

    return cut


def word_subwords(model: "SentencePieceProcessor", word: str) -> tuple[list[str], list[int]]:
    """Return a word's subwords, and where each ends in the word as it was before the model normalised it."""
    names: list[str] = model.encode(word, out_type=str)
    _, offsets = model.normalize(word, with_offsets=True)  # of each normalised character, and of the end
    ends = [offsets[min(end, len(offsets) - 1)] for end in accumulate(map(characters, names))]
    return names, [*ends[:-1], len(word)][: len(names)]  # what the model removes at the end belongs to the last


def characters(subword: str) -> int:
    """Return how many characters a subword adds; a byte adds one if it is the first of its character."""
    byte = BYTE.fullmatch(subword)
    return int(int(byte[1], 16) & 0xC0 != 0x80) if byte else len(subword)


def windows(questions: list[Question], cut: Cut, dictionary: Dictionary, length: int, stride: int) -> Iterator[Window]:
    cut_context = functools.lru_cache(maxsize=8)(cut)  # several questions share a context
    for number, question in enumerate(questions):
        question_tokens = [dictionary.index(name) for name in cut(question.text).names][: length // MOST_QUESTION]
        head = [dictionary.bos(), *question_tokens, dictionary.eos(), dictionary.eos()]
        subwords = cut_context(question.context)
        context = [dictionary.index(name) for name in subwords.names]
        answer = answer_span(subwords, question)
        room = length - len(head) - 1
        for first in window_starts(len(context), room, stride):
            part = context[first : first + room]
            span = NO_ANSWER
            if answer and first <= answer[0] and answer[1] < first + len(part):
                span = (answer[0] - first + len(head), answer[1] - first + len(head))
            tokens = [*head, *part, dictionary.eos()]
            yield Window(number, tokens, context=len(head), first=first, span=span)


def window_starts(number: int, room: int, stride: int) -> Iterator[int]:
    """Yield the starts of windows of `room` tokens that together cover all `number` tokens."""
    yield 0
    step = min(stride, room)
    yield from range(step, number - room + step, step)


def answer_span(subwords: Subwords, question: Question) -> tuple[int, int] | None:
    """Return the first and last subword that have a character of the first answer."""
    if not question.answers or not subwords.names:
        return None
    answer = question.answers[0]
    first = bisect_right(list(accumulate(subwords.ends, max)), answer.start)
    last = bisect_left(subwords.starts, answer.start + len(answer.text)) - 1
    return first, max(first, last)


def text_of(subwords: Subwords, context: str, first: int, last: int) -> str:
    return context[subwords.starts[first] : subwords.ends[last]].strip()
