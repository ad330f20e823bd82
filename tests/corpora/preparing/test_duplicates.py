"""Repeated pairs, against a dictionary."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realformer_nmt.corpora.preparing.duplicates import digest, repetitions


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("duplicates") / "digests"


@given(
    pairs=st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")), max_size=60),
    at_once=st.integers(1, 70),
)
def test_all_but_the_first_are_found_whatever_fits_in_memory(
    file: Path, pairs: list[tuple[str, str]], at_once: int
) -> None:
    file.write_bytes(b"".join(digest(*pair) for pair in pairs))
    expected = [pair in pairs[:place] for place, pair in enumerate(pairs)]
    assert repetitions(file, at_once).tolist() == expected


@given(
    pairs=st.lists(st.sampled_from("abcdef"), max_size=40),
    held_out=st.lists(st.sampled_from("defghi"), max_size=40),
    at_once=st.integers(1, 50),
)
def test_pairs_that_are_held_out_are_found_too(file: Path, pairs: list[str], held_out: list[str], at_once: int) -> None:
    other = file.with_name("held_out")
    for path, texts in ((file, pairs), (other, held_out)):
        path.write_bytes(b"".join(digest(text, text) for text in texts))
    expected = [pair in pairs[:place] or pair in held_out for place, pair in enumerate(pairs)]
    assert repetitions(file, at_once, other).tolist() == expected


def test_the_sides_are_not_run_together() -> None:
    assert len({digest("a b", "c"), digest("a", "b c"), digest("a b c", ""), digest("", "a b c")}) == 4
