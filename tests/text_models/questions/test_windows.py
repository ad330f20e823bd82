"""Where windows begin and answers lie, by hand and beside what sentencepiece says of its own pieces."""

import io
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import sentencepiece
from fairseq.data import Dictionary

from realformer_nmt.common.errors import UserError
from realformer_nmt.text_models.questions.squad import Answer, Question
from realformer_nmt.text_models.questions.windows import (
    Subwords,
    answer_span,
    cut_of,
    sentencepieces,
    split_at_spaces,
    text_of,
    window_starts,
    windows,
)

CONTEXT = "Sie sagte: „Größe 42“,  dann 日本 (zwei Wörter)."


@pytest.fixture(scope="module")
def model() -> sentencepiece.SentencePieceProcessor:
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([CONTEXT.replace("日本", "")] * 20),
        model_writer=made,
        vocab_size=300,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())


def test_pieces_are_sentencepieces_and_stand_where_it_says(model: sentencepiece.SentencePieceProcessor) -> None:
    found = sentencepieces(model)(CONTEXT)
    assert found.names == model.encode(CONTEXT, out_type=str)
    assert "<0xE6>" in found.names
    ends = list(itertools.accumulate(len(one.surface) for one in model.encode(CONTEXT, out_type="proto").pieces))
    # Of a character in bytes it has the last byte end behind it, and we the first
    whole = [place for place, name in enumerate(found.names) if not name.startswith("<0x")]
    assert [found.ends[place] for place in whole] == [ends[place] for place in whole]


@pytest.mark.parametrize("answer", ["Größe", "42", "日本", "日", "Größe 42“,  dann", "zwei Wörter", "Sie", "Wörter"])
def test_an_answer_is_found_again_in_its_pieces(model: sentencepiece.SentencePieceProcessor, answer: str) -> None:
    """Whole words exactly; of single letters whatever pieces hold them."""
    pieces = sentencepieces(model)(CONTEXT)
    found = answer_span(pieces, question(CONTEXT, answer))
    assert found
    told = text_of(pieces, CONTEXT, *found)
    assert answer in told
    inner = Subwords(*(column[found[0] + 1 : found[1]] for column in pieces))
    assert not inner.names or answer.startswith(text_of(pieces, CONTEXT, found[0], found[0]))


def question(context: str, answer: str | None) -> Question:
    answers = () if answer is None else (Answer(answer, context.index(answer)),)
    return Question("q", "which one", context, answers, may_have_none=answer is None)


def test_words_stand_between_white_space() -> None:
    assert split_at_spaces(" a\u00a0bc\n d.") == Subwords(["a", "bc", "d."], [1, 3, 7], [2, 5, 9])


@pytest.mark.parametrize(("number", "room", "stride"), [*itertools.product((0, 1, 5, 6, 7, 30), (1, 5, 6), (1, 3, 99))])
def test_windows_hold_every_piece_and_none_is_idle(number: int, room: int, stride: int) -> None:
    found = [range(first, min(first + room, number)) for first in window_starts(number, room, stride)]
    assert set(itertools.chain.from_iterable(found)) == set(range(number))
    assert all(window.stop < number for window in found[:-1])
    assert all(after.start - before.start == min(stride, room) for before, after in itertools.pairwise(found))


@pytest.fixture
def dictionary() -> Dictionary:
    made = Dictionary()
    for word in "abcdefgh?":
        made.add_symbol(word)
    return made


def of(dictionary: Dictionary, asked: Question, length: int) -> list[tuple[str, tuple[int, int]]]:
    cut: Callable[[str], Subwords] = split_at_spaces
    return [
        (" ".join(dictionary[token] for token in window.tokens), window.span)
        for window in windows([asked], cut, dictionary, length, 2)
    ]


def test_a_long_context_has_several_windows_and_the_answer_where_it_is_whole(dictionary: Dictionary) -> None:
    asked = Question("q", "? ? ? ?", "a b c d e", (Answer("c d", 4), Answer("a", 0)), may_have_none=False)
    assert of(dictionary, asked, 8) == [  # two words of the question are kept
        ("<s> ? ? </s> </s> a b </s>", (0, 0)),
        ("<s> ? ? </s> </s> c d </s>", (5, 6)),
        ("<s> ? ? </s> </s> e </s>", (0, 0)),
    ]
    nothing = asked._replace(answers=())
    assert {span for _, span in of(dictionary, nothing, 8)} == {(0, 0)}
    assert of(dictionary, asked, 20) == [("<s> ? ? ? ? </s> </s> a b c d e </s>", (9, 10))]


def test_what_is_no_sentencepiece_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.model").write_bytes(b"no model")
    with pytest.raises(UserError, match=r"sentencepiece\.model is no model of sentencepiece's: give that of"):
        cut_of(tmp_path)
