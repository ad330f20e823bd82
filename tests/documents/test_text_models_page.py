"""docs/text_models.md against the records of benchmarks/long_inputs.py and benchmarks/recall.py."""

import json
import re
from itertools import groupby
from typing import Any

from program import REPOSITORY

PAGE = (REPOSITORY / "docs" / "text_models.md").read_text()
SECTION = PAGE.partition("\n## Long texts")[2].partition("\n## ")[0]


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REPOSITORY / "docs" / "results" / f"{name}.json").read_text())
    return found


def tried(row: dict[str, Any]) -> tuple[str, ...]:
    return row["family"], f"{row['attention_dropout']:g}", row["pattern"]


def test_seconds_and_memory_are_the_records() -> None:
    measured = record("long_inputs")
    shown = {
        tuple(cells[:3]): cells[3:]
        for line in re.findall(r"^\| (`\w+` \| [\d.]+ \| .*) \|$", SECTION, re.MULTILINE)
        for cells in [line.replace("`", "").split(" | ")]
    }
    assert shown == {
        key: [f"{row['seconds']:.2f} s, {row['bytes'] / 1e6:,.0f} MB" for row in rows]
        for key, rows in groupby(measured["rows"], tried)
    }
    size = measured["made_from"]
    assert f"W = {size['encoder_window']}, G = {size['encoder_global_tokens']}, one thread" in SECTION
    assert [f"{row['length']:,} tokens" for row in measured["rows"][:3]] == re.findall(r"[\d,]+ tokens(?= \|)", SECTION)


def test_what_is_recalled_is_the_records() -> None:
    found = record("recall")
    shown = re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([\d.]+)% \|$", SECTION, re.MULTILINE)
    assert shown == [(row["pattern"], row["family"], f"{100 * row['right']:.1f}") for row in found["rows"]]
    chance = 1 / found["made_from"]["values"]
    for row in found["rows"]:
        near = abs(row["right"] - chance) < 0.1
        assert near == (row["pattern"] == "local")
