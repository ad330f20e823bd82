"""The cells in the records of recipes/zoo, by family, depth, learning rate and seed."""

from collections import defaultdict
from statistics import fmean

from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow

RESULTS = REPOSITORY / "docs" / "results"
DEPTHS = {"zoo_6l": 6, "zoo_18l": 18, "zoo_36l": 36}
RATES = (0.001, 0.002)


def cells_by_rate(name: str, seed: int = 1) -> dict[str, dict[float, CellResult]]:
    """Return the cells of a seed in the records of a folder, by family and learning rate."""
    table: dict[str, dict[float, CellResult]] = defaultdict(dict)
    for record in (RESULTS / name).glob("*.json"):
        for cell in results_file.read(record).cells:
            if cell.seed == seed:
                table[cell.family][float(cell.axes["lr"])] = cell
    return table


def second_cells(name: str) -> dict[str, CellResult]:
    """Return the cell of each family with the second seed, at the higher rate."""
    return {family: by_rate[max(RATES)] for family, by_rate in cells_by_rate(name, seed=2).items()}


def mean_bleu(name: str, family: str) -> str:
    """Return the mean over the seeds of a family at the rate that the validation loss chooses."""
    cells = [best_cells(name)[family], *(cell for cell in [second_cells(name).get(family)] if cell)]
    scores = [cell.scores["bleu"].score for cell in cells if cell.state == "done"]
    return f"{fmean(scores):.1f}" if scores else cells[0].state


def loss(cell: CellResult) -> float:
    return cell.scores["valid_loss"].score if cell.state == "done" else float("inf")


def best_cells(name: str) -> dict[str, CellResult]:
    """Return the cell of each family at the rate that the validation loss chooses."""
    return {family: min(by_rate.values(), key=loss) for family, by_rate in cells_by_rate(name).items()}


def rows(name: str) -> list[ResultRow]:
    """Return the rows of a table, at the chosen rates where the record has both."""
    results = results_file.read(RESULTS / name / "results.json")
    return results.tuned.rows if results.tuned else results.rows


def bleu(cell: CellResult | None) -> str:
    if cell is None:
        return ""
    return f"{cell.scores['bleu'].score:.1f}" if cell.state == "done" else cell.state


def leading(name: str) -> list[ResultRow]:
    return [row for row in rows(name) if row.delta and row.delta["bleu"] > 0 and row.p_holm and row.p_holm < 0.05]


def page_of(name: str) -> str:
    return " ".join((RESULTS / name / "README.md").read_text().split())
