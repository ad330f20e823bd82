"""docs/compatibility.md and the record of docs/results/scripts/ties.py: no tie is more than fp32's rounding."""

from typing import Any

import pytest
from figures.pages import record, says

ROWS: list[dict[str, Any]] = record("ties")["rows"]
COMPARED = [(row, name, comparison) for row in ROWS for name, comparison in row["against stock"].items()]
OURS = [(row, comparison) for row, name, comparison in COMPARED if name.startswith("ours")]


def bound(row: dict[str, Any], kind: str) -> float:
    """Two hypotheses of which stock rounds each by as much as it rounds any."""
    most: float = row["rounding of stock"][kind]["most"]
    return 2 * most


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['family']}-{row['updates']}-{row['way']}")
def test_every_swapped_pair_is_a_tie_within_stocks_rounding(row: dict[str, Any]) -> None:
    for comparison in row["against stock"].values():
        pairs = [comparison["swapped"], *(difference["candidates"] for difference in comparison["differences"])]
        assert all(pair["margin"] <= bound(row, "totals") for pair in pairs if pair["pairs"])
        ordered = [difference["order"] for difference in comparison["differences"]]
        assert all(pair["margin"] <= bound(row, "scores") for pair in ordered if pair["pairs"])


def test_every_difference_comes_of_a_swapped_pair_and_is_none_in_fp64() -> None:
    differences = [difference for _, _, comparison in COMPARED for difference in comparison["differences"]]
    assert differences
    for difference in differences:
        assert difference["candidates"]["pairs"] + difference["order"]["pairs"] > 0
        assert difference["same in fp64"]


def test_ours_rounds_no_more_than_stock() -> None:
    for row, comparison in OURS:
        for kind in ("scores", "totals"):
            assert comparison["rounding"][kind]["median"] < 1.25 * row["rounding of stock"][kind]["median"]


def test_the_page_says_what_the_record_says() -> None:
    comparisons = [comparison for _, name, comparison in COMPARED if name == "ours"]
    orders = [difference["order"]["margin"] for _, comparison in OURS for difference in comparison["differences"]]
    says(
        "docs/compatibility.md",
        f"{sum(each['differ'] for each in comparisons)} of {sum(row['hypotheses'] for row in ROWS):,} did",
        f"{sum(each['swapped']['pairs'] for each in comparisons)} pairs",
        f"by {max(comparison['swapped'].get('margin', 0.0) for _, comparison in OURS):.1e} at most",
        f"up to {max(row['rounding of stock']['totals']['most'] for row in ROWS):.1e}",
        f"{max(orders):.1e} apart",
    )
