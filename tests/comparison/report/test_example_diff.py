"""Highlights against sentences marked by hand, and against what they must be for any sentence."""

from grids.sample_results import sample
from hypothesis import given
from hypothesis import strategies as st

from realformer_nmt.comparison.report.example_diff import MISSING, OTHER, SAME, compared, examples

WORDS = st.lists(st.sampled_from(["der", "die", "rote", "Tür", "auf", "."]), max_size=12).map(" ".join)


def marked(reference: str, hypothesis: str) -> list[tuple[str, str]]:
    return [(stretch.text, stretch.kind) for stretch in compared(reference, hypothesis)]


@given(WORDS, WORDS)
def test_nothing_is_lost_and_nothing_is_added(reference: str, hypothesis: str) -> None:
    stretches = marked(reference, hypothesis)
    hypothesis_words = [word for text, kind in stretches if kind != MISSING for word in text.split()]
    shared = [word for text, kind in stretches if kind != OTHER for word in text.split()]
    assert hypothesis_words == hypothesis.split()
    common = iter(reference.split())
    assert all(word in common for word in shared)  # in the reference's order
    assert (reference.split() == hypothesis.split()) == all(kind == SAME for _, kind in stretches)


def test_a_long_sentence_of_frequent_words_is_compared_as_a_short_one_is() -> None:
    """difflib takes words that make up more than a hundredth of 200 or more for noise, if it is let."""
    line = " ".join(["der"] * 150 + ["die"] * 150)
    assert marked(line, line) == [(line, SAME)]


def test_systems_that_say_the_same_stand_together() -> None:
    """The sentence of more than half comes last, and its systems are counted: the others are named above."""
    _, versions = examples(sample(seeds=1))[0]
    assert [version.systems for version in versions] == [
        ["post_ln 6", "pre_ln 6, 18"],
        ["post_ln 18 (stuck)"],
        ["all 6 others"],  # three families, two depths
    ]
    assert [stretch.kind for stretch in versions[2].stretches] == [SAME]
