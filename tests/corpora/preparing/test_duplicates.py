"""Hashes of pairs; test_clean_splits.py drops repeated ones."""

from realformer_nmt.corpora.preparing.duplicates import digest


def test_the_sides_are_not_run_together() -> None:
    assert len({digest("a b", "c"), digest("a", "b c"), digest("a b c", ""), digest("", "a b c")}) == 4
