"""The figures of long texts against the records, and the page's data-bin for its grid."""

import re
import shlex
from pathlib import Path
from typing import Any

from figures.pages import record, says, text
from grids.grid_cells import corpus_of
from programs import commands

from realformer_nmt.comparison.grid import grid as grids

PAGE, GUIDE = "docs/results/long_inputs.md", "docs/text_models.md"
SIZE = record("long_inputs")["made_from"]
Row = dict[str, Any]


def rows(family: str, dropout: float, positions: int) -> dict[tuple[str, int], Row]:
    """Return the rows of a model by pattern of attention and length."""
    of_model = [each for each in record("long_inputs")["rows"] if [*each.values()][:3] == [family, dropout, positions]]
    return {(each["pattern"], each["length"]): each for each in of_model}


def test_time_and_memory_in_the_guide() -> None:
    """The figures are of RealFormer on the longest text."""
    carried = rows("realformer_post_ln", 0.1, 0)
    full, pattern = (carried[name, 4096] for name in ("full", "global_local"))
    one, other = (f"{row['seconds']:.2f} s and {row['bytes'] / 1e6:,.0f} MB" for row in (full, pattern))
    time, memory = (f"{100 * float(ratio) - 100:.0f} %" for ratio in ratios("realformer_post_ln", 0.1))
    says(
        GUIDE,
        f"`full` takes {one}, `global_local` {other}",
        f"Relative positions add up to {time} time and {memory} memory",
    )


def ratios(family: str, dropout: float, *patterns: str) -> list[str]:
    """Return the most that relative positions cost, in time and in memory, in some patterns or in all."""
    without, positions = rows(family, dropout, 0), rows(family, dropout, 32)
    places = [place for place in without if not patterns or place[0] in patterns]
    return [f"{max(positions[at][what] / without[at][what] for at in places):.2f}" for what in ("seconds", "bytes")]


def test_what_relative_positions_cost() -> None:
    for time, memory in (ratios("realformer_post_ln", 0.1), ratios("post_ln", 0, "full")):
        says(PAGE, f"up to {time} times the time and {memory} times the memory")
    says(PAGE, f"W = {SIZE['encoder_window']}, G = {SIZE['encoder_global_tokens']}, one thread")
    says(PAGE, *(f"| {length:,} tokens |" for _, length in rows("post_ln", 0, 0)))


def test_how_far_both_ways_of_carried_scores_differ() -> None:
    difference = f"{record('carried_scores')['largest_difference']:.1e}".replace("e-0", "e-")
    says(PAGE, f"the results differ by {difference}")


def test_the_pages_data_bin_has_what_the_pages_grid_scores_on(tmp_path: Path) -> None:
    (tmp_path / "demo" / "text").mkdir(parents=True)
    for name in ("train", "valid", "test"):
        (tmp_path / "demo" / "text" / f"{name}.en").write_text("a text\n")
    (block,) = re.findall(r"```bash\nfairseq-preprocess (.*? data-bin)\n", text(GUIDE), re.DOTALL)
    done = commands.run([*commands.fairseq("preprocess"), *shlex.split(block.replace("\\\n", ""))], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "grid.toml").write_text(text(GUIDE).partition("```toml\n")[2].partition("```")[0])
    grid = grids.load(tmp_path / "grid.toml")
    corpus = corpus_of(grid, tmp_path / "runs")
    assert grid.subsets == ("test",)
    corpus.check_subset("test")
