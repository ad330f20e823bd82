"""The heading of the printed scores; the rest is printed in test_score.py and read there."""

from typing import Any

import pytest
from texts.translation_records import record

from realformer_nmt.evaluation.scoring import score_table


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"texts": ["test_2016_flickr.en.gz"]}, "(test_2016_flickr.en.gz)"),
        ({"texts": ["a.en", "b.en"]}, "(a.en, b.en)"),
        ({"texts": []}, ""),
        ({}, ""),
        ({"input": "/some/where/news.txt"}, "(news.txt)"),
    ],
)
def test_the_heading_names_the_files_that_were_translated(changes: dict[str, Any], expected: str) -> None:
    assert score_table.test_set(record(**changes)) == expected
