"""Write the tables of docs/results/multi30k_128 from its records, and the plots there and in debian_en_de.

python docs/results/scripts/multi30k_128.py

short.json has the trainings of 2,000 updates, longer*.json those of 6,000, rates.json those with another learning rate.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace
from page_tables import figure, mean, table, write
from scipy.stats import ttest_ind

from realformer_nmt.comparison.report import curve_plots, plots
from realformer_nmt.comparison.results import results_file, summary
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import Results

FOLDER = Path("docs/results/multi30k_128")
FAMILIES = ("pre_ln", "realformer", "admin", "resi_dual", "realformer_post_ln", "post_ln")
DRAWINGS = {  # the records, the depths and the first plot of each
    FOLDER / "longer.svg": ("longer*.json", "18", curve_plots.validation),
    FOLDER.with_name("debian_en_de") / "curves.svg": ("[fmr]*.json", "6", curve_plots.validation),
    FOLDER.with_name("debian_en_de") / "depths.svg": ("[fmr]*.json", "6 18", lambda results: [plots.by_depth(results)]),
}
MEASURES = {"bleu": "sacreBLEU", "valid_loss": "bits"}


def main() -> None:
    write(FOLDER / "README.md", TABLES)
    for file, (records, depths, draw) in DRAWINGS.items():
        drawing = draw(joined(sorted(file.parent.glob(records)), depths.split()))[0]
        file.write_text(drawing.file_svg(), encoding="utf-8")


def joined(files: Sequence[Path], depths: Sequence[str]) -> Results:
    """Return the trained cells of these depths at the rate 1e-3 in all records, with a row for each family."""
    records = [results_file.read(file) for file in files]
    cells = [cell for record in records for cell in record.cells if cell.depth in depths and cell.state != "waiting"]
    cells = [cell for cell in cells if cell.axes.get("lr", 1e-3) == 1e-3]
    return replace(records[0], cells=cells, rows=summary.rows(cells, [], "bleu", "pre_ln"))


def means() -> str:
    """A row a family at a depth and a budget: mean and deviation of its seeds."""
    rows = []
    for layers, updates, cells in by_budget():
        for family, seeds in by_family(cells):
            values = [[cell.scores[name].score for cell in seeds if cell.scores] for name in MEASURES]
            bleu, loss = (mean(each) if each else "" for each in values)
            rows.append([layers, f"{updates:,}", f"`{family}`", len(seeds), bleu or seeds[0].state, loss])
    return table(["layers", "updates", "family", "seeds", "sacreBLEU", "validation loss, bits"], rows)


def longer_ends() -> str:
    """A row a measure and a family: each seed of the longer training, and Welch's t-test against Pre-LN."""
    rows = []
    for name, measure in MEASURES.items():
        scores = {
            family: [cell.scores[name].score for cell in seeds] for family, seeds in by_family(cells_of("longer*"))
        }
        for family, seeds in scores.items():
            alone = family == "pre_ln" or len(seeds) < 2
            p = None if alone else ttest_ind(seeds, scores["pre_ln"], equal_var=False).pvalue
            figures = [figure(value, 2) for value in [*seeds, None, None][:3]]
            rows.append([f"`{family}`", measure, *figures, figure(p, 2)])
    return table(["family", "measure", "seed 1", "seed 2", "seed 3", "p"], rows)


def longer_losses() -> str:
    """A row a family: its loss after each epoch of the longer training, mean and deviation of its seeds."""
    rows = []
    for family, seeds in by_family(cells_of("longer*")):
        curves = [{point.update: point.nll_loss for point in cell.curves.valid if point.nll_loss} for cell in seeds]
        updates = list(curves[0])
        rows.append([f"`{family}`", *(mean([curve[update] for curve in curves]) for update in updates)])
    return table(["family", *updates], rows)


def rates() -> str:
    """A row a family: the first seed's loss and score at each learning rate."""
    higher = dict(by_family(cells_of("rates")))
    lower = [cell for cell in cells_of("short") if (cell.depth, cell.seed) == ("6", 1) and cell.family in higher]
    rows = []
    for cell in lower:
        both = (cell, *higher[cell.family])
        scores = (figure(each.scores[name].score, 2) for name in ("valid_loss", "bleu") for each in both)
        rows.append([f"`{cell.family}`", *scores])
    return table(["family", "bits at 1e-3", "bits at 2e-3", "sacreBLEU at 1e-3", "sacreBLEU at 2e-3"], rows)


def cost() -> str:
    """A row a depth and a budget: the shortest and the longest training that was not stuck."""
    rows = []
    for layers, updates, cells in by_budget():
        hours = [cell.hours for cell in cells if cell.scores and cell.hours]
        parameters = f"{(cells[0].parameters or 0) / 1e6:.1f} million"
        rows.append([layers, f"{updates:,}", parameters, f"{min(hours):.2f} to {max(hours):.2f}"])
    return table(["layers", "updates", "parameters", "hours"], rows)


def cells_of(name: str) -> list[CellResult]:
    """Return the cells of the records with such a name, in the order of the tables."""
    cells = [cell for file in FOLDER.glob(f"{name}.json") for cell in results_file.read(file).cells]
    return sorted(cells, key=lambda cell: (*budget(cell), FAMILIES.index(cell.family), cell.seed))


def by_budget() -> list[tuple[int, int, list[CellResult]]]:
    """Return the cells of each depth and number of updates."""
    cells = [*cells_of("short"), *cells_of("longer*")]
    return [(*key, list(group)) for key, group in groupby(cells, key=budget)]


def budget(cell: CellResult) -> tuple[int, int]:
    return cell.layers[0], int(cell.axes["updates"])


def by_family(cells: Sequence[CellResult]) -> list[tuple[str, list[CellResult]]]:
    return [(family, list(group)) for family, group in groupby(cells, key=lambda cell: cell.family)]


TABLES: dict[str, Callable[[], str]] = {
    "means": means,
    "longer_ends": longer_ends,
    "longer_losses": longer_losses,
    "rates_128": rates,
    "cost": cost,
}

if __name__ == "__main__":
    main()
