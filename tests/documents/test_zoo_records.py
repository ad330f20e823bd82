"""The pages of recipes/zoo's records, against these."""

import re
from collections import defaultdict
from statistics import fmean, median

import pytest
from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow
from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA

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


@pytest.mark.parametrize("name", ["zoo_18l", "zoo_36l"])
def test_who_leads_in_a_deep_table_is_the_records(name: str) -> None:
    ahead = [row.delta["bleu"] for row in leading(name) if row.delta]
    sentence = re.search(
        r"are ([\d.]+) to ([\d.]+) BLEU ahead of `pre_ln` here: (.+?) \(p at most ([\d.]+),", page_of(name)
    )
    assert sentence
    least, most, families, p = sentence.groups()
    assert (least, most) == (f"{min(ahead):.1f}", f"{max(ahead):.1f}")
    assert set(re.findall(r"`(\w+)`", families)) == {row.family for row in leading(name)}
    assert p == f"{max(row.p_holm or 0 for row in leading(name)):.3f}"


def test_a_second_seed_leads_with_36_layers() -> None:
    best = sorted(leading("zoo_36l"), key=lambda row: row.scores["bleu"].mean)[-7:]
    rows = [row for row in results_file.read(RESULTS / "zoo_36l" / "second_seed.json").rows if row.delta]
    assert {row.family for row in rows} == {row.family for row in best}
    ahead = [row.delta["bleu"] for row in rows if row.delta]
    sentence = f"lead from a second seed, too**, by {min(ahead):.1f} to {max(ahead):.1f} BLEU (p at most"
    assert f"{sentence} {max(row.p_holm or 1 for row in rows):.4f}, corrected for the seven)" in page_of("zoo_36l")


@pytest.mark.parametrize("name", DEPTHS)
def test_the_table_of_every_residual_is_the_records(name: str) -> None:
    page = (RESULTS / name / "README.md").read_text()
    lines = re.findall(r"^\| (\w+) \| `(\w+)` \| (.+?) ?\|$", page, re.MULTILINE)
    table = [(idea, family, *figures.split(" | ")) for idea, family, figures in lines]
    by_rate, best, second = cells_by_rate(name), best_cells(name), second_cells(name)
    assert [(idea, family) for idea, families in FAMILIES_BY_IDEA.items() for family in families if family in best] == [
        (idea, family) for idea, family, *_ in sorted(table, key=lambda row: [*FAMILIES].index(row[1]))
    ]
    assert f"{len(table)} families" in page
    for _, family, *figures in table:
        cell = best[family]
        is_done = cell.state == "done"
        last = [f"{loss(cell):.2f}", f"{cell.parameters:,}"] if is_done else ["", ""]
        seeds = [bleu(second.get(family))] if second else []
        assert figures == [*(bleu(by_rate[family].get(rate)) for rate in RATES), *seeds, *last]


def test_what_came_out_at_each_depth_is_the_records() -> None:
    page = (REPOSITORY / "docs" / "residuals.md").read_text().partition("\n## Beside the authors' code")[0]
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    families = {
        line: [name for name in re.findall(r"`(\w+)`", line.split(" | ")[0]) if name in FAMILIES] for line in lines
    }
    line_of = {family: line for line, named in families.items() for family in named}
    assert line_of.keys() == best_cells("zoo_6l").keys() | best_cells("zoo_more").keys()
    for family in best_cells("zoo_6l"):
        line = line_of[family]
        figures = ", ".join(mean_bleu(name, family) for name in DEPTHS)
        assert (f"`{family}` " if len(families[line]) > 1 else "| ") + figures in line


def test_which_second_seeds_are_left_is_the_records() -> None:
    more = [cell for record in (RESULTS / "zoo_more").glob("*.json") for cell in results_file.read(record).cells]
    second = second_cells("zoo_36l").keys() | {cell.family for cell in more if (cell.depth, cell.seed) == ("36", 2)}
    states = {family: {cell.state for cell in cells.values()} for family, cells in cells_by_rate("zoo_36l").items()}
    missing = {family for family, ended in states.items() if ended != {"stuck"}} - second
    page = " ".join((REPOSITORY / "recipes" / "zoo" / "README.md").read_text().split())
    assert f"all but {len(missing)} second seeds with 36 layers" in page


def test_who_leads_at_both_depths_is_the_records() -> None:
    page = " ".join((REPOSITORY / "docs" / "residuals.md").read_text().split())
    sentence = re.search(
        r"seeds\), (.+) are significantly ahead of `pre_ln` .+ No family is with 6\. `(\w+)` is with 36 alone", page
    )
    assert sentence
    ahead = re.findall(r"`(\w+)`", sentence[1])
    assert set(ahead) == {row.family for row in leading("zoo_18l")} & {row.family for row in leading("zoo_36l")}
    leaders = {name: [row.family for row in leading(name)] for name in DEPTHS}
    assert leaders["zoo_6l"] == []
    assert [name for name in DEPTHS if sentence[2] in leaders[name]] == ["zoo_36l"]
    behind = [row for name in ("zoo_18l", "zoo_36l") for row in rows(name) if row.family == "realformer"]
    assert all(row.delta and row.delta["bleu"] < 0 for row in behind)


@pytest.mark.parametrize("name", ["zoo_18l", "zoo_36l"])
def test_what_is_stuck_is_the_records(name: str) -> None:
    number, after = {"zoo_18l": ("Four", 300), "zoo_36l": ("Five", 500)}[name]
    at_2e_3 = [by_rate[0.002] for by_rate in cells_by_rate(name).values()]
    stuck = [cell for cell in at_2e_3 if cell.state == "stuck"]
    assert len(stuck) == {"Four": 4, "Five": 5}[number]
    assert "post_ln" in {cell.family for cell in stuck}
    assert f"{number} families are stuck at 2e-3, among them `post_ln`" in page_of(name)
    assert all(f"after {after} updates" in str(cell.evidence) for cell in stuck)


def test_how_36_layers_differ_from_18_is_the_records() -> None:
    less, more = (difference(family) for family in ("pre_ln", "dlcl_pre"))
    assert f"`pre_ln` had {-less:.0f} BLEU more than with 36, `dlcl_pre` {more:.0f} less" in page_of("zoo_36l")


def difference(family: str) -> float:
    """Return the BLEU of a family with 36 layers less that with 18."""
    shallow, deep = (best_cells(name)[family].scores["bleu"].score for name in ("zoo_18l", "zoo_36l"))
    return float(deep - shallow)


def behind_at_1e_3(name: str) -> dict[str, float]:
    """Return how far each family that learns at both rates is behind at the lower one, in BLEU."""
    both = {family: by_rate for family, by_rate in cells_by_rate(name).items() if by_rate.keys() == set(RATES)}
    pairs = {family: [by_rate[rate].scores.get("bleu") for rate in RATES] for family, by_rate in both.items()}
    return {family: higher.score - lower.score for family, (lower, higher) in pairs.items() if lower and higher}


def test_what_the_lower_rate_costs_with_18_layers_is_the_records() -> None:
    page, behind = page_of("zoo_18l"), behind_at_1e_3("zoo_18l")
    assert all(cell.axes["lr"] == 0.002 for cell in best_cells("zoo_18l").values() if cell.state == "done")
    assert f"for each of the {len(behind)} families that learn" in page
    assert f"at 1e-3 they are {min(behind.values()):.0f} to {max(behind.values()):.0f} BLEU behind" in page
    lower = {
        family: by_rate[0.001].scores["bleu"].score
        for family, by_rate in cells_by_rate("zoo_18l").items()
        if by_rate[0.001].state == "done"
    }
    ahead = [lower[row.family] - lower["pre_ln"] for row in leading("zoo_18l")]
    assert f"At 1e-3 all six are ahead, too, by {min(ahead):.1f} to {max(ahead):.1f}." in page


def test_what_the_lower_rate_costs_with_36_layers_is_the_records() -> None:
    page, behind = page_of("zoo_36l"), behind_at_1e_3("zoo_36l")
    assert f"at 1e-3 it is {behind.pop('pre_ln'):.0f} BLEU behind" in page
    costs = [bleu for bleu in behind.values() if bleu > 0]
    gains = sorted(((-bleu, family) for family, bleu in behind.items() if bleu < 0), reverse=True)
    sentence = f"Of the other {len(behind)} that learn at both rates {len(costs)} are {min(costs):.0f} to"
    assert f"{sentence} {max(costs):.0f} behind" in page
    (first, family), *middle, (last, smallest) = gains
    listed = ", ".join([f"`{family}` {first:.1f} BLEU", *(f"`{family}` {bleu:.1f}" for bleu, family in middle)])
    assert len(gains) == 4
    assert f"**Four gain by the lower rate**: {listed} and `{smallest}` {last:.1f}." in page


def test_which_cells_of_the_lower_rate_a_gpu_trained_is_the_record() -> None:
    by_rate = cells_by_rate("zoo_36l")
    assert all(cells.keys() == set(RATES) for cells in by_rate.values())
    devices = [cells[0.001].device for cells in by_rate.values()]
    assert len(devices) - devices.count("CPU") == 12
    stuck = [cells for cells in by_rate.values() if {cell.state for cell in cells.values()} == {"stuck"}]
    assert len(stuck) == 4
    assert "Four of them are stuck at 1e-3, too." in page_of("zoo_36l")


def test_the_rates_that_the_page_of_all_families_names_are_the_records() -> None:
    page = " ".join((REPOSITORY / "docs" / "residuals.md").read_text().split())
    best = {name: best_cells(name) for name in DEPTHS}
    lower = {(name, family) for name, cells in best.items() for family, cell in cells.items() if is_lower(cell)}
    sentence = re.search(r"chose 2e-3 for all, but with 36 layers 1e-3 for (.+?)\.", page)
    assert sentence
    assert lower == {("zoo_36l", family) for family in re.findall(r"`(\w+)`", sentence[1])}


def is_lower(cell: CellResult) -> bool:
    return cell.state == "done" and cell.axes["lr"] == min(RATES)


@pytest.mark.parametrize("name", DEPTHS)
def test_how_far_two_seeds_differ_is_the_records(name: str) -> None:
    best, second = best_cells(name), second_cells(name)
    differences = {
        family: abs(cell.scores["bleu"].score - best[family].scores["bleu"].score)
        for family, cell in second.items()
        if cell.state == "done"
    }
    widest = max(differences, key=lambda family: differences[family])
    sentence = f"differ by {median(differences.values()):.1f} BLEU in the median, by {differences[widest]:.1f} for"
    if name == "zoo_36l":
        assert f"`{widest}`, by {differences['admin']:.1f} for `admin`" in page_of(name)
    assert f"{sentence} `{widest}`" in page_of(name)


def test_no_family_leads_with_6_layers() -> None:
    behind = [row for row in rows("zoo_6l") if row.delta and row.delta["bleu"] < 0 and (row.p_holm or 1) < 0.05]
    assert leading("zoo_6l") == []
    assert f"is significantly ahead of `pre_ln` in both seeds**, {len(behind)} are behind" in page_of("zoo_6l")


def test_what_the_lower_rate_costs_with_6_layers_is_the_records() -> None:
    page, behind = page_of("zoo_6l"), behind_at_1e_3("zoo_6l")
    assert all(cell.axes["lr"] == 0.002 for cell in best_cells("zoo_6l").values())
    assert f"for each of the {len(behind)} families" in page
    assert f"at 1e-3 they are {min(behind.values()):.0f} to {max(behind.values()):.0f} BLEU behind" in page
