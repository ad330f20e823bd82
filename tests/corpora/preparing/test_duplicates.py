"""Repeated pairs, against a dictionary."""

from hypothesis import given
from hypothesis import strategies as st

from realformer_nmt.corpora.preparing.duplicates import digest, repetitions

PAIRS = st.lists(st.sampled_from("abcdef"), max_size=60)


@given(pairs=PAIRS, held_out=st.lists(st.sampled_from("defghi"), max_size=40))
def test_all_but_the_first_and_all_that_are_held_out_repeat(pairs: list[str], held_out: list[str]) -> None:
    digests, excluded = (b"".join(digest(text, text) for text in texts) for texts in (pairs, held_out))
    expected = [pair in pairs[:number] or pair in held_out for number, pair in enumerate(pairs)]
    assert repetitions(digests, excluded).tolist() == expected


def test_the_sides_are_not_run_together() -> None:
    assert len({digest("a b", "c"), digest("a", "b c"), digest("a b c", ""), digest("", "a b c")}) == 4
