"""The pages of recipes/zoo's records, against these."""

import re
from statistics import median

import pytest
from grids.zoo_records import (
    DEPTHS,
    RATES,
    RESULTS,
    best_cells,
    bleu,
    cells_by_rate,
    leading,
    loss,
    mean_bleu,
    page_of,
    rows,
    second_cells,
)
from programs.program import REPOSITORY

from realformer_nmt.comparison.results import results_file
from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA


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
        r"seeds\), (.+) are significantly ahead of `pre_ln` .+ With 6 layers no family is significantly ahead\. "
        r"`(\w+)` is ahead with 36 layers only",
        page,
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
