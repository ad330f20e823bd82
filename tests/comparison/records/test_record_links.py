"""Files of one cell in another's folder; reliability/attacks_swaps.py swaps all of them."""

from pathlib import Path

import pytest
from fixture_types import Once
from test_compare import compare

from reliability import attacks_swaps

SWAPPED = (("cell.json",), ("train.json",), ("average.pt", "average.pt.json"))


@pytest.fixture(scope="module")
def root(once: Once, toy_corpus: Path) -> Path:
    return once("compared", lambda folder: compare(folder, toy_corpus))


def test_no_number_is_shown_of_another_cell(root: Path) -> None:
    beside = root.with_name("swapped")  # run.json names its reference relative to itself
    figures = attacks_swaps.attack(root / "grid.toml", root / "runs", beside, SWAPPED)
    assert figures["sets of files swapped between cells"] == len(SWAPPED)
