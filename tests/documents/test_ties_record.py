"""docs/compatibility.md on ties, and the record of benchmarks/ties.py: nothing in it is more than fp32's rounding."""

import json
import re
from typing import Any

import pytest
from program import REPOSITORY

RECORD = json.loads((REPOSITORY / "docs/results/ties.json").read_text())
ROWS: list[dict[str, Any]] = RECORD["rows"]
DIFFERENCES = [(row, difference) for row in ROWS for difference in row["differences"]]
PAGE = " ".join((REPOSITORY / "docs/compatibility.md").read_text().split())
TOLD = PAGE.partition("* **Ties.**")[2].partition(" * **")[0]


def rounding(row: dict[str, Any], kind: str) -> float:
    """Two hypotheses may each be rounded by as much as stock rounds one."""
    most: float = row["rounding"]["stock"][kind]["most"]
    return 2 * most


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['family']}-{row['updates']}-{row['way']}")
def test_every_swapped_pair_is_a_tie_within_stocks_rounding(row: dict[str, Any]) -> None:
    pairs = [row["swapped"], *(difference["candidates"] for difference in row["differences"])]
    assert all(pair["margin"] <= rounding(row, "totals") for pair in pairs if pair["pairs"])
    ordered = [difference["order"] for difference in row["differences"]]
    assert all(pair["margin"] <= rounding(row, "scores") for pair in ordered if pair["pairs"])


def test_every_difference_has_a_swapped_pair_and_vanishes_in_fp64() -> None:
    assert DIFFERENCES
    for _, difference in DIFFERENCES:
        assert difference["candidates"]["pairs"] + difference["order"]["pairs"] > 0
        assert difference["same in fp64"]


def test_ours_rounds_no_more_than_stock() -> None:
    for kind in ("scores", "totals"):
        ours, stocks = (sum(row["rounding"][name][kind]["median"] for row in ROWS) for name in ("ours", "stock"))
        assert ours < 1.25 * stocks


def test_the_page_says_what_the_record_says() -> None:
    total = {name: sum(row[name] for row in ROWS) for name in ("hypotheses", "differ", "again")}
    pairs = sum(row["swapped"]["pairs"] for row in ROWS)
    margin = max(row["swapped"].get("margin", 0.0) for row in ROWS)
    most = max(row["rounding"]["stock"]["totals"]["most"] for row in ROWS)
    assert re.findall(r"\d+(?:,\d{3})+ hypotheses", TOLD) == [f"{total['hypotheses']:,} hypotheses"]
    assert f"{total['differ']} differ" in TOLD
    assert f"{total['again']} from itself" in TOLD
    assert f"{pairs} pairs" in TOLD
    assert f"{margin:.1e}" in TOLD
    assert f"{most:.1e}" in TOLD
