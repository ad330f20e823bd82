"""The page and the records of docs/results/multi30k_128."""

import statistics
from typing import Any

from msgspec import to_builtins
from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file

FOLDER = REPOSITORY / "docs" / "results" / "multi30k_128"
PAGE = (FOLDER / "README.md").read_text()
WORDS = " ".join(PAGE.split())
WHY_PRE_LN_LEADS = " ".join((REPOSITORY / "docs" / "results" / "why_pre_ln_leads.md").read_text().split())
MEASURES = {"sacreBLEU": "bleu", "bits": "valid_loss"}
Cell = dict[str, Any]


def cells_of(records: str) -> list[Cell]:
    files = sorted(FOLDER.glob(f"{records}.json"))
    return [to_builtins(cell) for file in files for cell in results_file.read(file).cells]


LONGER = cells_of("longer*")


def lines_of(table: str) -> list[list[str]]:
    """Return the lines of a table, the first of which is its head."""
    head, _, *lines = PAGE.partition(f"<!-- table {table} -->")[2].partition("<!-- end -->")[0].strip().splitlines()
    return [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in (head, *lines)]


def scores_of(family: str, metric: str) -> list[float]:
    """Return the scores of a family's longer trainings in the order of its seeds."""
    cells = sorted((cell for cell in LONGER if cell["family"] == family), key=lambda cell: int(cell["seed"]))
    assert [cell["seed"] for cell in cells] == list(range(1, len(cells) + 1))
    return [cell["scores"][metric]["score"] for cell in cells]


def losses_of(family: str) -> dict[int, list[float]]:
    """Return the validation losses of a family's longer trainings after each epoch."""
    losses: dict[int, list[float]] = {}
    for point in (point for cell in LONGER if cell["family"] == family for point in cell["curves"]["valid"]):
        losses.setdefault(point["update"], []).append(point["nll_loss"])
    return losses


def mean_of(values: list[float]) -> str:
    return f"{statistics.fmean(values):.2f}" + (f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else "")


def groups(cells: list[Cell], *names: str) -> dict[tuple[Any, ...], list[Cell]]:
    grouped: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(tuple((cell | cell["axes"])[name] for name in names), []).append(cell)
    return grouped
