"""The page of five residuals more, and their rows in "Which residual?", against the records."""

import re

from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.model.presets import FAMILIES_BY_IDEA

FOLDER = REPOSITORY / "docs" / "results" / "zoo_more"
DEPTHS = ("6", "18", "36")
TRIED = [(depth, rate) for depth in DEPTHS for rate in (0.001, 0.002)]
Cells = dict[tuple[str, float], CellResult]


def cells_by_family() -> dict[str, Cells]:
    """Return the cells of each family, by depth and learning rate."""
    cells = [cell for record in FOLDER.glob("*.json") for cell in results_file.read(record).cells]
    return {
        family: {(cell.depth, float(cell.axes["lr"])): cell for cell in cells if cell.family == family}
        for family in {cell.family for cell in cells}
    }


def bleu(cell: CellResult | None) -> str:
    if cell is None:
        return "none"
    return f"{cell.scores['bleu'].score:.1f}" if cell.state == "done" else cell.state


def loss(cell: CellResult) -> float:
    return cell.scores["valid_loss"].score if cell.state == "done" else float("inf")


def best(cells: Cells, depth: str) -> CellResult | None:
    """Return the cell with the lowest validation loss at a depth."""
    return min((cell for (each, _), cell in cells.items() if each == depth), key=loss, default=None)


def test_the_table_is_the_records() -> None:
    page = (FOLDER / "README.md").read_text()
    table = dict(re.findall(r"^\| \w+ \| `(\w+)` \| (.+) \|$", page, re.MULTILINE))
    families = cells_by_family()
    assert table.keys() == families.keys()
    for family, cells in families.items():
        assert table[family].split(" | ") == [bleu(cells.get(tried)) for tried in TRIED]


def test_what_pre_ln_has_is_its_records() -> None:
    page = " ".join((FOLDER / "README.md").read_text().split())
    scores = [pre_ln(depth) for depth in DEPTHS]
    assert "is {:.1f} with 6 layers, {:.1f} with 18 and {:.1f} with 36 at 2e-3".format(*scores) in page


def pre_ln(depth: str) -> float:
    """Return the BLEU of `pre_ln` with the first seed at the higher rate."""
    cells = results_file.read(FOLDER.parent / f"zoo_{depth}l" / "results.json").cells
    first_at_higher_rate = ("pre_ln", 1, 0.002)
    (score,) = [
        cell.scores["bleu"].score
        for cell in cells
        if (cell.family, cell.seed, float(cell.axes["lr"])) == first_at_higher_rate
    ]
    return score


def test_each_stands_under_its_idea() -> None:
    page = (FOLDER / "README.md").read_text()
    for idea, family in re.findall(r"^\| (\w+) \| `(\w+)` \|", page, re.MULTILINE):
        assert family in FAMILIES_BY_IDEA[idea]


def test_what_came_out_is_on_the_page_of_all_families() -> None:
    page = (REPOSITORY / "docs" / "residuals.md").read_text()
    for family, cells in cells_by_family().items():
        (line,) = re.findall(rf"^\| `{family}` \| .+ \|$", page.partition("\n## Beside")[0], re.MULTILINE)
        assert f"| {', '.join(bleu(best(cells, depth)) for depth in DEPTHS)} |" in line
