"""The figures of long texts against the records, and the page's data-bin for its grid."""

import json
import re
import shlex
from itertools import groupby
from pathlib import Path
from typing import Any

from grids.grid_cells import corpus_of
from programs import commands
from programs.program import REPOSITORY

from realformer_nmt.comparison.grid import grid as grids

PAGE = (REPOSITORY / "docs" / "results" / "long_inputs.md").read_text()
TEXT_MODELS = (REPOSITORY / "docs" / "text_models.md").read_text()
GUIDE = " ".join(TEXT_MODELS.split())


def record(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((REPOSITORY / "docs" / "results" / f"{name}.json").read_text())
    return content


def tried(row: dict[str, Any]) -> tuple[str, ...]:
    return row["family"], f"{row['attention_dropout']:g}", str(row["relative_positions"]), row["pattern"]


def test_seconds_and_memory_are_the_records() -> None:
    measured = record("long_inputs")
    shown = {
        tuple(cells[:4]): cells[4:]
        for line in re.findall(r"^\| (`\w+` \| [\d.]+ \| .*) \|$", PAGE, re.MULTILINE)
        for cells in [line.replace("`", "").split(" | ")]
    }
    assert shown == {
        key: [f"{row['seconds']:.2f} s, {row['bytes'] / 1e6:,.0f} MB" for row in rows]
        for key, rows in groupby(measured["rows"], tried)
    }
    size = measured["made_from"]
    assert f"W = {size['encoder_window']}, G = {size['encoder_global_tokens']}, one thread" in " ".join(PAGE.split())
    assert [f"{row['length']:,} tokens" for row in measured["rows"][:3]] == re.findall(r"[\d,]+ tokens(?= \|)", PAGE)


def test_what_the_guide_quotes_is_the_records() -> None:
    """The figures are of RealFormer on the longest text, with a ratio in per cent."""
    rows = {(*tried(row), row["length"]): row for row in record("long_inputs")["rows"]}
    full, pattern = (rows["realformer_post_ln", "0.1", "0", name, 4096] for name in ("full", "global_local"))
    one, other = (f"{row['seconds']:.2f} s and {row['bytes'] / 1e6:,.0f} MB" for row in (full, pattern))
    assert f"`full` takes {one}, `global_local` {other}" in GUIDE
    ratios = re.search(r"up to (1\.\d\d) times the time and (1\.\d\d) times the memory", " ".join(PAGE.split()))
    assert ratios
    time, memory = (f"{100 * float(ratio) - 100:.0f} %" for ratio in ratios.groups())
    assert f"Relative positions add up to {time} time and {memory} memory" in GUIDE


def test_what_relative_positions_cost_is_the_records() -> None:
    rows = {(*tried(row), row["length"]): row for row in record("long_inputs")["rows"]}
    claims = re.findall(r"up to ([\d.]+) times the time and ([\d.]+) times the memory", PAGE.replace("\n", " "))
    factors = []
    for family, dropout, patterns in (
        ("realformer_post_ln", "0.1", ("full", "local", "global_local")),
        ("post_ln", "0", ("full",)),
    ):
        pairs = [
            tuple(rows[family, dropout, reach, pattern, length] for reach in ("32", "0"))
            for pattern in patterns
            for length in (1024, 2048, 4096)
        ]
        factors += [f"{max(one[what] / other[what] for one, other in pairs):.2f}" for what in ("seconds", "bytes")]
    assert [factor for pair in claims for factor in pair] == factors


def test_what_is_recalled_is_the_records() -> None:
    recall = record("recall")
    shown = re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([\d.]+)% \|$", PAGE, re.MULTILINE)
    assert shown == [(row["pattern"], row["family"], f"{100 * row['right']:.1f}") for row in recall["rows"]]
    chance = 1 / recall["made_from"]["values"]
    for row in recall["rows"]:
        near = abs(row["right"] - chance) < 0.1
        assert near == (row["pattern"] == "local")


def test_both_ways_of_carried_scores_are_the_records() -> None:
    measured = record("carried_scores")
    shown = re.findall(r"^\| (\d+) \| ([\d,]+) \| (.* MB) \| (.* MB) \|$", PAGE, re.MULTILINE)
    costs = [f"{row['seconds']:.1f} s, {row['bytes'] / 1e6:,.0f} MB" for row in measured["rows"]]
    tried = [(str(row["layers"]), f"{row['length']:,}") for row in measured["rows"][::2]]
    assert shown == [(*row, *pair) for row, pair in zip(tried, zip(costs[::2], costs[1::2], strict=True), strict=True)]
    assert f"the results differ by {measured['largest_difference']:.1e}".replace("e-07", "e-7") in PAGE


def test_the_pages_data_bin_has_what_the_pages_grid_scores_on(tmp_path: Path) -> None:
    (tmp_path / "demo" / "text").mkdir(parents=True)
    for name in ("train", "valid", "test"):
        (tmp_path / "demo" / "text" / f"{name}.en").write_text("a text\n")
    (block,) = re.findall(r"```bash\nfairseq-preprocess (.*? data-bin)\n", TEXT_MODELS, re.DOTALL)
    done = commands.run([*commands.fairseq("preprocess"), *shlex.split(block.replace("\\\n", ""))], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "grid.toml").write_text(TEXT_MODELS.partition("```toml\n")[2].partition("```")[0])
    grid = grids.load(tmp_path / "grid.toml")
    corpus = corpus_of(grid, tmp_path / "runs")
    assert grid.subsets == ("test",)
    corpus.check_subset("test")
