"""Words split by tokenizers and by subword-nmt, whose codes are learnt or written by hand: never a difference."""

import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from realformer_nmt.corpora.subwords.quick_bpe import QuickBpe

WORDS = st.text("abcd\u00e9</w>", min_size=1, max_size=12)


def learnt() -> BPE:
    words = ["".join(letters) for letters in itertools.permutations("abcd\u00e9w", 5)]
    codes = io.StringIO()
    learn_bpe(io.StringIO("\n".join(words)), codes, 60)
    return BPE(codes)


BPES = {
    "learnt": learnt(),
    "two ways to a symbol": BPE(io.StringIO("#version: 0.2\nb c\na bc\nabc ab\na b\nab c\nc d</w>\nab c</w>\n")),
    "a code before its part": BPE(io.StringIO("#version: 0.2\nab a\na b\nc d</w>\n")),
    "later codes first": BPE(io.StringIO("#version: 0.2\nab cd\nab c\na b\nc d\nd a</w>\nab c</w>\n")),
    "a letter that looks like an end": BPE(io.StringIO("#version: 0.2\n< /\n</ w\n</w >\na </w>\nw >\na b</w>\n")),
    "no version, an end of its own": BPE(io.StringIO("a b\nb </w>\nab </w>\nc d\n")),
    "the same code twice": BPE(io.StringIO("#version: 0.2\na b\nc d\na b\nab cd\n")),
}


@pytest.mark.parametrize("name", BPES)
@given(words=st.lists(WORDS, max_size=20))
def test_every_word_is_split_as_by_subword_nmt(name: str, words: list[str]) -> None:
    assert QuickBpe(BPES[name])(words) == [BPES[name].segment(word) for word in words]


def test_letters_without_a_code_and_codes_out_of_order_are_left_to_subword_nmt() -> None:
    quick = QuickBpe(BPES["learnt"])
    assert [quick.is_sure(word) for word in ("abcabc", "a", "ab\u00df", "")] == [True, True, False, False]
    ordered = {name for name, bpe in BPES.items() if QuickBpe(bpe).is_sure("ab")}
    assert ordered == {"learnt", "the same code twice", "a letter that looks like an end"}
