"""The tokeniser with a memory, against outputs of Moses' own script and against sacremoses on whole lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from realformer_nmt.corpora import tokenise
from realformer_nmt.corpora.tokenise import Tokeniser

# What the rules of Moses' tokenizer.perl -a give, as they stand in its commit 0036c6c
BY_PERL = [
    (
        "en",
        "\"Mr. Smith's U.S.-based firm won't pay $5,000.50,\" he said, e.g. in No. 5.",
        "&quot; Mr. Smith &apos;s U.S.-based firm won &apos;t pay $ 5,000.50 , &quot; he said , e.g. in No. 5 .",
    ),
    (
        "en",
        "It costs 5, not 6; see http://a.b/c?d=e&f [x] <y> etc.",
        "It costs 5 , not 6 ; see http : / / a.b / c ? d = e &amp; f &#91; x &#93; &lt; y &gt; etc .",
    ),
    ("en", "the dogs' tails and the 1990's.", "the dogs &apos; tails and the 1990 &apos;s ."),
    (
        "de",
        "Das Nord-Süd-Gefälle z.B. betrifft ca. 3,5 Mio. Menschen am 5. Mai.",
        "Das Nord @-@ Süd @-@ Gefälle z.B. betrifft ca. 3,5 Mio. Menschen am 5. Mai .",
    ),
    (
        "de",
        "Er sagte: \"So geht's nicht.\" 'Ja'.",
        "Er sagte : &quot; So geht &apos; s nicht . &quot; &apos; Ja &apos; .",
    ),
    (
        "fr",
        "L'homme qu'elle aime aujourd'hui, M. Dupont, a dit : « C'est ça. »",
        "L&apos; homme qu&apos; elle aime aujourd&apos; hui , M. Dupont , a dit : « C&apos; est ça . »",
    ),
]
AWKWARD = """
    Mr. No. etc. U.S. z.B. a. B. 5. ... .. . , ' '' ,5 5, 5,000 a,b it's 'tis o' l'an 90's 's n' - a-b a--b -a & | < >
    [x] " a: (b) he He \u00dcber \u00e9t\u00e9 \u00df 1 12 3rd \u00aa @-@ x...y ..z. .' .'' ,' '. ?! $5 5% DOTMULTI
    http://a.b/c a@b.c 1990's
"""
WORDS = st.sampled_from(AWKWARD.split())
LINES = st.lists(WORDS | st.text(st.sampled_from("aA1.,'-\"\u00e9"), min_size=1, max_size=5), min_size=1, max_size=9)


@pytest.mark.parametrize(("language", "line", "expected"), BY_PERL)
def test_lines_are_split_as_moses_splits_them(language: str, line: str, expected: str) -> None:
    assert Tokeniser(language, True)(line) == expected


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize("aggressive", [True, False])
def test_words_with_a_memory_equal_whole_lines(language: str, aggressive: bool) -> None:
    tokeniser, moses = Tokeniser(language, aggressive), MosesTokenizer(language)

    @given(words=LINES)
    def equal(words: list[str]) -> None:
        line = " ".join([*words, "end"])  # sacremoses differs from Moses in a full stop that ends the line
        assert tokeniser(line) == moses.tokenize(line, aggressive_dash_splits=aggressive, return_str=True)
        assert tokeniser(" ".join(words)).replace(" ", "") == moses.tokenize(
            " ".join(words), aggressive_dash_splits=aggressive, return_str=True
        ).replace(" ", "")

    equal()
    assert tokeniser.word.cache_info().currsize > 50


@given(words=LINES)
def test_a_full_stop_that_ends_a_line_stands_alone(words: list[str]) -> None:
    tokens = Tokeniser("en", True)(" ".join([*words, "Mr."])).split()
    assert tokens[-2:] == ["Mr", "."]


def test_what_is_forgotten_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"Mr. {number}th word, it's no. {number}." for number in range(30)]
    expected = [Tokeniser("en", True)(line) for line in lines]
    monkeypatch.setattr(tokenise, "REMEMBERED", 5)
    forgetful = Tokeniser("en", True)
    assert [forgetful(line) for line in lines] == expected
    assert forgetful.word.cache_info().currsize <= 5


def test_control_characters_inside_words_are_removed_as_by_moses() -> None:
    assert Tokeniser("en", True)("a\x01b, c\u200bd") == "ab , c \u200b d"
    assert Tokeniser("en", True)(" \u00a0 ") == ""
