"""The pages of recipes/zoo's records, against these."""

import json
import re

import pytest
from program import REPOSITORY

from realformer_nmt.comparison.results import results_file
from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA

RESULTS = REPOSITORY / "docs" / "results"


@pytest.mark.parametrize("name", ["zoo_18l", "zoo_36l"])
def test_who_leads_in_a_deep_table_is_the_records(name: str) -> None:
    page = " ".join((RESULTS / name / "README.md").read_text().split())
    rows = results_file.read(RESULTS / name / "results.json").rows
    leading = [row for row in rows if row.delta and row.delta["bleu"] > 0 and row.p_holm < 0.05]
    ahead = [row.delta["bleu"] for row in leading]
    sentence = re.search(r"are ([\d.]+) to ([\d.]+) BLEU ahead of `pre_ln` here: (.+?) \(p at most ([\d.]+),", page)
    assert sentence
    least, most, families, p = sentence.groups()
    assert (least, most) == (f"{min(ahead):.1f}", f"{max(ahead):.1f}")
    assert set(re.findall(r"`(\w+)`", families)) == {row.family for row in leading}
    assert p == f"{max(row.p_holm for row in leading):.3f}"


@pytest.mark.parametrize("name", ["zoo_6l", "zoo_18l", "zoo_36l"])
def test_the_table_of_every_residual_is_the_records(name: str) -> None:
    page = (RESULTS / name / "README.md").read_text()
    table = re.findall(r"^\| (\w+) \| `(\w+)` \| ([\w.]+) \| ([\d.]*) ?\| ([\d,]*) ?\|$", page, re.MULTILINE)
    cells = {cell["family"]: cell for cell in json.loads((RESULTS / name / "results.json").read_text())["cells"]}
    assert [
        (idea, family) for idea, families in FAMILIES_BY_IDEA.items() for family in families if family in cells
    ] == [(idea, family) for idea, family, *_ in sorted(table, key=lambda row: [*FAMILIES].index(row[1]))]
    assert f"{len(table)} families" in page
    for _, family, *figures in table:
        cell = cells[family]
        if cell["state"] == "done":
            bleu, loss = (cell["scores"][metric]["score"] for metric in ("bleu", "valid_loss"))
            assert figures == [f"{bleu:.1f}", f"{loss:.2f}", f"{cell['parameters']:,}"]
        else:
            assert figures == [cell["state"], "", ""]


def bleu_by_depth(family: str) -> str:
    """Return what a family has with 6, 18 and 36 layers, as the page of residuals shows it."""
    shown = []
    for name in ("zoo_6l", "zoo_18l", "zoo_36l"):
        cells = {cell.family: cell for cell in results_file.read(RESULTS / name / "results.json").cells}
        done = family in cells and cells[family].state == "done"
        shown.append(f"{cells[family].scores['bleu'].score:.1f}" if done else cells[family].state)
    return ", ".join(shown)


def test_what_came_out_at_each_depth_is_the_records() -> None:
    page = (REPOSITORY / "docs" / "residuals.md").read_text().partition("\n## Beside the authors' code")[0]
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    families = {row: [name for name in re.findall(r"`(\w+)`", row.split(" | ")[0]) if name in FAMILIES] for row in rows}
    by_family = {family: row for row, named in families.items() for family in named}
    assert by_family.keys() == {cell.family for cell in results_file.read(RESULTS / "zoo_6l" / "results.json").cells}
    for family, row in by_family.items():
        assert (f"`{family}` " if len(families[row]) > 1 else "| ") + bleu_by_depth(family) in row


def test_who_grows_better_with_depth_is_the_records() -> None:
    page = " ".join((REPOSITORY / "docs" / "residuals.md").read_text().split())
    sentence = re.search(r"short trainings of one seed, (.+) are ahead of `pre_ln` with 18 .+ as is `(\w+)`", page)
    assert sentence
    ahead = re.findall(r"`(\w+)`", sentence[1])
    depths = [results_file.read(RESULTS / name / "results.json").rows for name in ("zoo_18l", "zoo_36l")]
    leading = [
        {row.family for row in rows if row.delta and row.delta["bleu"] > 0 and row.p_holm < 0.05} for rows in depths
    ]
    assert set(ahead) == set.intersection(*leading)
    assert all(difference(family) > 0 for family in (*ahead, sentence[2]))
    assert all(row.delta["bleu"] < 0 for rows in depths for row in rows if row.family == "realformer")


def test_what_is_stuck_with_18_layers_is_the_records() -> None:
    page = " ".join((RESULTS / "zoo_18l" / "README.md").read_text().split())
    cells = results_file.read(RESULTS / "zoo_18l" / "results.json").cells
    stuck = [cell for cell in cells if cell.state == "stuck"]
    assert (len(stuck), "post_ln") == (4, stuck[0].family)
    assert "Four families are stuck, among them `post_ln`" in page
    assert all("after 300 updates" in str(cell.evidence) for cell in stuck)


def test_what_is_stuck_with_36_layers_is_the_records() -> None:
    page = " ".join((RESULTS / "zoo_36l" / "README.md").read_text().split())
    stuck = [cell for cell in results_file.read(RESULTS / "zoo_36l" / "results.json").cells if cell.state == "stuck"]
    assert len(stuck) == 5
    assert "post_ln" in {cell.family for cell in stuck}
    assert "Five families are stuck, among them `post_ln`" in page
    assert all("after 500 updates" in str(cell.evidence) for cell in stuck)


def test_how_36_layers_differ_from_18_is_the_records() -> None:
    page = " ".join((RESULTS / "zoo_36l" / "README.md").read_text().split())
    less, more = (difference(family) for family in ("pre_ln", "dlcl_pre"))
    assert f"`pre_ln` had {-less:.0f} BLEU more than with 36, `dlcl_pre` {more:.0f} less" in page


def difference(family: str) -> float:
    """BLEU of a family with 36 layers less that with 18."""
    shallow, deep = (
        {
            row.family: row.scores["bleu"].mean
            for row in results_file.read(RESULTS / name / "results.json").rows
            if row.seeds
        }
        for name in ("zoo_18l", "zoo_36l")
    )
    return deep[family] - shallow[family]
