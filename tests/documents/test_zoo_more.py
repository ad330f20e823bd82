"""The page of five residuals beside pre_ln, and their rows in "Which residual?", against the records."""

import re
from statistics import fmean

from grids.zoo_records import RATES, bleu, loss
from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.model.presets import FAMILIES_BY_IDEA

FOLDER = REPOSITORY / "docs" / "results" / "zoo_more"
PAGE = (FOLDER / "README.md").read_text()
DEPTHS = ("6", "18", "36")
BASELINE = "pre_ln"


def record(depth: str) -> Results:
    return results_file.read(FOLDER / f"{depth}l.json")


def cells_of(family: str, depth: str) -> dict[tuple[float, int], CellResult]:
    """Return the cells of a family at a depth, by learning rate and seed."""
    return {(float(cell.axes["lr"]), cell.seed): cell for cell in record(depth).cells if cell.family == family}


def families() -> set[str]:
    return {cell.family for depth in DEPTHS for cell in record(depth).cells}


def better_rate(cells: dict[tuple[float, int], CellResult]) -> float:
    """Return the learning rate that has the lowest validation loss with the first seed."""
    return min(RATES, key=lambda rate: loss(cells[rate, 1]))


def mean_bleu(family: str, depth: str) -> str:
    """Return the mean over seeds at the better learning rate."""
    cells = cells_of(family, depth)
    at_better_rate = [cell for (rate, _), cell in cells.items() if rate == better_rate(cells)]
    scores = [cell.scores["bleu"].score for cell in at_better_rate if cell.state == "done"]
    return f"{fmean(scores):.1f}" if scores else at_better_rate[0].state


def test_the_table_is_the_records() -> None:
    lines = re.findall(r"^\| \w+ \| `(\w+)` \| (.+?) ?\|$", PAGE, re.MULTILINE)
    assert {family for family, _ in lines} == families()
    for family, figures in lines:
        shown = []
        for cells in (cells_of(family, depth) for depth in DEPTHS):
            shown += [*(bleu(cells[rate, 1]) for rate in RATES), bleu(cells.get((better_rate(cells), 2)))]
        assert [figure.strip() for figure in figures.split("|")] == shown


def test_every_cell_of_the_grids_was_trained() -> None:
    assert all(record(depth).complete for depth in DEPTHS)


def significantly_behind(depth: str) -> dict[str, float]:
    """Return how many BLEU each family is behind the baseline, where that is significant; each has two seeds."""
    tuned = record(depth).tuned
    assert tuned
    rows = [row for row in tuned.rows if row.delta and row.p_holm is not None and row.p_holm < 0.05]
    assert all(row.seeds == 2 and row.p_holm is not None and row.p_holm <= 0.001 for row in rows)
    return {row.family: -row.delta["bleu"] for row in rows if row.delta}


def named(line: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", line))


def test_who_is_behind_is_the_records() -> None:
    lines = {depth: re.search(rf"^\* with {depth} layers (.+)$", PAGE, re.MULTILINE) for depth in DEPTHS}
    for depth, line in lines.items():
        assert line
        behind = significantly_behind(depth)
        families_named = families() - {BASELINE} - named(line[1]) if "all but" in line[1] else named(line[1])
        assert families_named == behind.keys()
        least, most = re.findall(r"by ([\d.]+) (?:to|and) ([\d.]+)", line[1])[0]
        assert (least, most) == (f"{min(behind.values()):.1f}", f"{max(behind.values()):.1f}")


def p_of(family: str, depth: str) -> str:
    tuned = record(depth).tuned
    assert tuned
    (p,) = [row.p_holm for row in tuned.rows if row.family == family]
    return f"{p:.2f}"


def test_who_is_not_behind_is_the_records() -> None:
    first, second, third = (p_of("lazy", depth) for depth in DEPTHS)
    sentence = f"`lazy` differs significantly at no depth (p {first}, {second} and {third}), `rezero` not with 36"
    assert f"{sentence} (p {p_of('rezero', '36')})" in " ".join(PAGE.split())


def test_the_better_rates_and_what_is_stuck_are_the_records() -> None:
    words = " ".join(PAGE.split())
    cells_at = {(family, depth): cells_of(family, depth) for depth in DEPTHS for family in families()}
    stuck = {key for key, cells in cells_at.items() if all(cell.state == "stuck" for cell in cells.values())}
    lower = {key for key, cells in cells_at.items() if better_rate(cells) == min(RATES)} - stuck
    assert lower == {("res_post", "36")}
    assert "chose: 2e-3, but 1e-3 for `res_post` with 36 layers" in words
    assert stuck == {("hybrid_norm", "18"), ("hybrid_norm", "36")}
    for depth, after in (("18", 300), ("36", 500)):
        assert all(f"after {after} updates" in str(cell.evidence) for cell in cells_of("hybrid_norm", depth).values())
    assert "`hybrid_norm` is stuck with 18 and with 36 layers. It was judged after 300 and 500 updates" in words


def test_each_stands_under_its_idea() -> None:
    for idea, family in re.findall(r"^\| (\w+) \| `(\w+)` \|", PAGE, re.MULTILINE):
        assert family in FAMILIES_BY_IDEA[idea]


def test_what_came_out_is_on_the_page_of_all_families() -> None:
    page = (REPOSITORY / "docs" / "residuals.md").read_text().partition("\n## Beside")[0]
    for family in families() - {BASELINE}:
        (line,) = re.findall(rf"^\| `{family}` \| .+ \|$", page, re.MULTILINE)
        assert f"| {', '.join(mean_bleu(family, depth) for depth in DEPTHS)} |" in line
    first, second, third = (mean_bleu(BASELINE, depth) for depth in DEPTHS)
    assert f"beside a `pre_ln` of {first}, {second} and {third};" in " ".join(page.split())
