"""Tables about the trainings on Multi30k have the figures of their records."""

import re
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from figures.pages import RESULTS, record, row, says, table, text
from grids.grid_cells import cells_of
from msgspec import to_builtins

from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.results import results_file

PAGE = "docs/results/multi30k_128/README.md"
NARROW = sorted(folder.name for folder in RESULTS.glob("multi30k_en_de*"))
FILES = sorted((RESULTS / "multi30k_128").glob("longer*.json"))
LONGER = [to_builtins(cell) for file in FILES for cell in results_file.read(file).cells]
SHORT, FASTER = (
    {(cell["depth"], cell["family"], cell["seed"]): cell for cell in record(f"multi30k_128/{name}")["cells"]}
    for name in ("short", "rates")
)
ON_A_GPU = record("gpu_trainings")["trainings"]


def bleu(cell: dict[str, Any]) -> float:
    return float(cell["scores"]["bleu"]["score"])


@pytest.mark.parametrize(("name", "trained"), [("short", len(SHORT)), ("longer", len(LONGER)), ("rates", len(FASTER))])
def test_how_many_cells_are_trained(name: str, trained: int, tmp_path: Path) -> None:
    planned = len(list(cells_of(grids.load(RESULTS / "multi30k_128" / f"{name}.toml"), tmp_path)))
    (line,) = [line for line in table(PAGE) if line.startswith(f"| [{name}.toml]")]
    assert f"| {trained} of {planned} |" in line


@pytest.mark.parametrize("name", NARROW)
def test_scores_with_width_64(name: str) -> None:
    shown = dict(re.findall(r"^\| `(\w+)` \| (\S+)", text(f"docs/results/{name}/README.md"), re.MULTILINE))
    cells = record(f"{name}/results")["cells"]
    assert shown == {cell["family"]: f"{bleu(cell):.2f}" if cell["scores"] else "failed" for cell in cells}


def test_the_recipe_shows_means() -> None:
    families = ("pre_ln", "realformer", "admin", "resi_dual", "post_ln")
    shallow = [fmean(bleu(SHORT["6", family, seed]) for seed in (1, 2, 3)) for family in families]
    deep = [SHORT["18", family, 1] for family in families]
    longer = [[bleu(cell) for cell in LONGER if cell["family"] == family] for family in families]
    lines = [
        row("6L-6L, 2,000 updates", *(f"{mean:.1f}" for mean in shallow)),
        row("18L-18L, 2,000 updates, one seed", *(f"{bleu(x):.1f}" if x["scores"] else x["state"] for x in deep)),
        row("18L-18L, 6,000 updates", *(f"{fmean(x):.1f}{' (one seed)' * (len(x) == 1)}" if x else "" for x in longer)),
    ]
    assert table("recipes/multi30k_en_de/README.md") == lines


def losses_on_a_gpu(family: str, update: int) -> str:
    """Return mean and deviation of the seeds' losses; two seeds of ResiDual were stopped in their second epoch."""
    seeds = [1] if family == "resi_dual" else [1, 2, 3]
    trainings = [each["valid"] for each in ON_A_GPU if each["family"] == family and each["seed"] in seeds]
    losses = [point["nll_loss"] for points in trainings for point in points if point["update"] == update]
    return f"{fmean(losses):.2f} " + (f"± {stdev(losses):.2f}" if len(losses) == 3 else f"({len(losses)})")


def test_losses_of_three_seeds_on_a_gpu() -> None:
    updates = range(584, 4673, 584)
    families = dict.fromkeys(training["family"] for training in ON_A_GPU)
    rows = [row(f"`{family}`", *(losses_on_a_gpu(family, update) for update in updates)) for family in families]
    assert table(PAGE, "<!-- table seeds -->") == rows
    says(PAGE, f"<!-- table seeds --> {row('family', *updates)}")
