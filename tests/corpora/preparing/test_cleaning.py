"""Moses' cleaning, against its rules by hand, against sacremoses a line at a time, and against a naive count."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer

from realformer_nmt.corpora.manifest_schema import Lengths
from realformer_nmt.corpora.preparing.cleaning import Steps, cleaned, fault, normalise_punctuation

ANY = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))
MARKS = [
    *" ()[].,;:!?%\"'`<>12aZ\r\t\u00e9\u201e\u201c\u201d\u2013\u2014\u00b4\u2018\u2019\u201a\u2026\u00ab\u00bb\u00a0"
]
RUNS = ["n\u00ba\u00a0", "\u00a0\u00bb\u00a0", "\u00a0cm", '."', '",', "a\u2019b", " (", ") ", "1\u00a02"]
PUNCTUATION = st.lists(st.sampled_from(MARKS + RUNS), max_size=30).map("".join)
# Each pair worked out from the substitutions of normalize-punctuation.perl, in their order
BY_HAND = [
    ("de", "\u201eDas ist gut.\u201c \u201aJa\u2018", "\"Das ist gut\". 'Ja'"),
    ("de", 'Er sagt: "Nein."', 'Er sagt: "Nein".'),  # the line end counts as a character that follows
    ("en", 'He says: "No", he does.', 'He says: "No," he does.'),
    ("fr", "\u00ab\u00a0Oui\u00a0\u00bb, dit-il\u00a0!", '"Oui", dit-il!'),
    ("fr", "12\u00a0000 \u00e0 5\u00a0%\u00a0; l\u2019an \u2014 fin", "12,000 \u00e0 5%; l'an - fin"),
    ("en", "12\u00a0000 ( a ) , b :c", "12.000 (a), b:c"),
    ("en", "`x'' y\u2026 a\u2013b \u2019", '\'x " y... a-b "'),
]


@pytest.mark.parametrize(("language", "raw", "expected"), BY_HAND)
def test_punctuation_follows_the_rules(language: str, raw: str, expected: str) -> None:
    block = f"before\n{raw}\nafter\n".encode()
    assert cleaned(block, Steps(language, normalise_punctuation=True)) == ["before", expected, "after"]


@pytest.mark.parametrize("language", ["en", "de", "fr", "cs"])
@given(lines=st.lists(PUNCTUATION, min_size=1, max_size=6))
def test_a_block_is_normalised_as_each_of_its_lines(language: str, lines: list[str]) -> None:
    block = normalise_punctuation("".join(f"{line}\n" for line in lines).encode(), language)
    alone = MosesPunctNormalizer(language, perl_parity=True)
    expected = [alone.normalize(f"{line}\n") for line in lines]
    assert [line.strip() for line in block.decode().split("\n")[:-1]] == expected


@given(
    lines=st.lists(ANY, max_size=6), punctuation=st.booleans(), tokenise=st.sampled_from(["aggressive", "plain", None])
)
def test_any_unicode_keeps_its_line_and_is_clean(lines: list[str], punctuation: bool, tokenise: str | None) -> None:
    steps = Steps("en", normalise_punctuation=punctuation, remove_nonprinting=True, tokenise=tokenise, lowercase=True)
    out = cleaned("".join(f"{line}\n" for line in lines).encode(), steps)
    assert len(out) == len(lines)
    for before, after in zip(lines, out, strict=True):
        assert after == " ".join(after.split())
        assert not regex.search(r"\p{C}", after)
        assert bool(after) or not regex.search(r"[\p{L}\p{N}]", before)


def test_without_steps_only_whitespace_changes() -> None:
    block = "\u201ea\u00a0\u2028 b\r\u00ad\x07\u201c\n \n".encode()
    assert cleaned(block, Steps("de")) == ["\u201ea b \u00ad\x07\u201c", ""]
    assert cleaned(block, Steps("de", remove_nonprinting=True)) == ["\u201ea b \u201c", ""]


@given(
    sides=st.tuples(*[st.lists(st.sampled_from(["a", "bb", "c" * 1000, "d" * 1001]), max_size=7)] * 2),
    low=st.integers(1, 3),
    more=st.integers(0, 4),
    ratio=st.sampled_from([1.0, 1.5, 2.0, 9.0]),
)
def test_a_pair_is_dropped_as_clean_corpus_drops_it(
    sides: tuple[list[str], list[str]], low: int, more: int, ratio: float
) -> None:
    lengths = Lengths(low, low + more, ratio, "before_bpe", False)
    one, two = (len(side) for side in sides)
    reasons = {
        "empty": not (one and two),
        "too_long": one > low + more or two > low + more,
        "too_short": one < low or two < low,
        "ratio": bool(one and two) and (one / two > ratio or two / one > ratio),
        "long_word": "d" * 1001 in sides[0] + sides[1],
    }
    reason = fault(" ".join(sides[0]), " ".join(sides[1]), lengths)
    assert reason is None if not any(reasons.values()) else reasons[str(reason)]
    assert fault(" ".join(sides[0]), " ".join(sides[1]), None) == ("empty" if reasons["empty"] else None)
