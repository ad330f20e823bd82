"""Places of windows and answers, by hand and beside what sentencepiece says of its own pieces."""

import io
import itertools
import unicodedata
from pathlib import Path

import pytest
import sentencepiece
from fairseq.data import Dictionary

from realformer_nmt.common.errors import UserError
from realformer_nmt.questions.squad import Answer, Question
from realformer_nmt.questions.windows import (
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
    return trained(CONTEXT.replace("日本", ""), "identity")


def trained(text: str, normalisation: str) -> sentencepiece.SentencePieceProcessor:
    buffer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text] * 20),
        model_writer=buffer,
        vocab_size=300,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name=normalisation,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=buffer.getvalue())


def test_pieces_are_sentencepieces_and_stand_where_it_says(model: sentencepiece.SentencePieceProcessor) -> None:
    pieces = sentencepieces(model)(CONTEXT)
    assert pieces.names == model.encode(CONTEXT, out_type=str)
    assert "<0xE6>" in pieces.names
    ends = list(itertools.accumulate(len(one.surface) for one in model.encode(CONTEXT, out_type="proto").pieces))
    # Of a character in bytes it has the last byte end behind it, and we the first
    whole = [place for place, name in enumerate(pieces.names) if not name.startswith("<0x")]
    assert [pieces.ends[place] for place in whole] == [ends[place] for place in whole]


@pytest.mark.parametrize("answer", ["Größe", "42", "日本", "日", "Größe 42“,  dann", "zwei Wörter", "Sie", "Wörter"])
def test_an_answer_is_found_again_in_its_pieces(model: sentencepiece.SentencePieceProcessor, answer: str) -> None:
    """Whole words exactly; of single letters whatever pieces hold them."""
    pieces = sentencepieces(model)(CONTEXT)
    span = answer_span(pieces, question(CONTEXT, answer))
    assert span
    text = text_of(pieces, CONTEXT, *span)
    assert answer in text
    inner = Subwords(*(column[span[0] + 1 : span[1]] for column in pieces))
    assert not inner.names or answer.startswith(text_of(pieces, CONTEXT, span[0], span[0]))


def test_words_that_the_model_makes_shorter_are_whole() -> None:
    """Letters and accents apart, as in NFD, are one character to a model that normalises text."""
    context = unicodedata.normalize("NFD", "Das Résumé gehört über den \u200b Türen")
    pieces = sentencepieces(trained(unicodedata.normalize("NFC", context), "nmt_nfkc"))(context)
    for word in context.replace("\u200b", "").split():
        span = answer_span(pieces, question(context, word))
        assert span
        assert text_of(pieces, context, *span) == word


@pytest.mark.parametrize("answer", ["\u8bed\u8a00", "\u72d7", "\u732b\u3002", "\u2460"])
def test_answers_behind_characters_that_become_several_stand_where_they_are(answer: str) -> None:
    """NFKC makes six dots of two ellipses and m2 of a square metre, in a text without spaces."""
    context = "\u4ed6\u8bf4\u2026\u2026\u4e94\u33a1\u7684\u8bed\u8a00\uff0c\u2460\u72d7\u2026\u2026\u732b\u3002"
    pieces = sentencepieces(trained(" ".join(context), "nmt_nfkc"))(context)
    span = answer_span(pieces, question(context, answer))
    assert span
    assert text_of(pieces, context, *span) == answer


def question(context: str, answer: str | None) -> Question:
    answers = () if answer is None else (Answer(answer, context.index(answer)),)
    return Question("q", "which one", context, answers, may_have_none=answer is None)


def test_words_stand_between_white_space() -> None:
    assert split_at_spaces(" a\u00a0bc\n d.") == Subwords(["a", "bc", "d."], [1, 3, 7], [2, 5, 9])


@pytest.mark.parametrize(("number", "room", "stride"), [*itertools.product((0, 1, 5, 6, 7, 30), (1, 5, 6), (1, 3, 99))])
def test_windows_hold_every_piece_and_none_is_idle(number: int, room: int, stride: int) -> None:
    ranges = [range(first, min(first + room, number)) for first in window_starts(number, room, stride)]
    assert set(itertools.chain.from_iterable(ranges)) == set(range(number))
    assert all(window.stop < number for window in ranges[:-1])
    assert all(after.start - before.start == min(stride, room) for before, after in itertools.pairwise(ranges))


@pytest.fixture
def dictionary() -> Dictionary:
    symbols = Dictionary()
    for word in "abcdefgh?":
        symbols.add_symbol(word)
    return symbols


def of(dictionary: Dictionary, query: Question, length: int) -> list[tuple[str, tuple[int, int]]]:
    return [
        (" ".join(dictionary[token] for token in window.tokens), window.span)
        for window in windows([query], split_at_spaces, dictionary, length, 2)
    ]


def test_a_long_context_has_several_windows_and_the_answer_where_it_is_whole(dictionary: Dictionary) -> None:
    query = Question("q", "? ? ? ?", "a b c d e", (Answer("c d", 4), Answer("a", 0)), may_have_none=False)
    assert of(dictionary, query, 8) == [  # two words of the question are kept
        ("<s> ? ? </s> </s> a b </s>", (0, 0)),
        ("<s> ? ? </s> </s> c d </s>", (5, 6)),
        ("<s> ? ? </s> </s> e </s>", (0, 0)),
    ]
    nothing = query._replace(answers=())
    assert {span for _, span in of(dictionary, nothing, 8)} == {(0, 0)}
    assert of(dictionary, query, 20) == [("<s> ? ? ? ? </s> </s> a b c d e </s>", (9, 10))]


def test_what_is_no_sentencepiece_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.model").write_bytes(b"no model")
    with pytest.raises(UserError, match=r"sentencepiece\.model is no model of sentencepiece's: give that of"):
        cut_of(tmp_path)
