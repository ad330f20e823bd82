"""The tables and the plot of docs/results/multi30k_128 are those of its records."""

import json
import re
from pathlib import Path

import pytest
from grids.grid_cells import cells_of as cells_of_grid
from grids.multi30k_128 import (
    FOLDER,
    LONGER,
    MEASURES,
    PAGE,
    cells_of,
    groups,
    lines_of,
    losses_of,
    mean_of,
    scores_of,
)
from msgspec import convert
from multi30k_128 import joined
from scipy.stats import ttest_ind

from realformer_nmt.analysis.claims import TABLES, ClaimsRecord
from realformer_nmt.comparison.grid import grid as grids


@pytest.mark.parametrize(("name", "records"), [("short", "short"), ("longer", "longer*"), ("rates", "rates")])
def test_the_page_says_how_many_cells_of_each_grid_are_trained(name: str, records: str, tmp_path: Path) -> None:
    trained = {cell["name"] for cell in cells_of(records)}
    planned = {cell.name for cell in cells_of_grid(grids.load(FOLDER / f"{name}.toml"), tmp_path)}
    assert trained <= planned
    row = rf"^\| \[{name}\.toml\]\({name}\.toml\) \| .* \| {len(trained)} of {len(planned)} \| "
    assert re.search(row, PAGE, re.MULTILINE)
    for file in FOLDER.glob(f"{records}.json"):
        assert f"]({file.name})" in PAGE


def test_means_are_of_all_seeds() -> None:
    rows = {}
    for (depth, updates, family), seeds in groups(cells_of("short") + LONGER, "depth", "updates", "family").items():
        values = [[cell["scores"][name]["score"] for cell in seeds if cell["scores"]] for name in MEASURES.values()]
        shown = [mean_of(each) for each in values] if values[0] else [seeds[0]["state"], ""]
        rows[depth, f"{updates:,}", family] = [str(len(seeds)), *shown]
    assert {tuple(line[:3]): line[3:] for line in lines_of("means")[1:]} == rows


def test_ends_of_the_longer_training_are_of_each_seed() -> None:
    """The t-test is scipy's."""
    _, *lines = lines_of("longer_ends")
    assert {(family, MEASURES[name]) for family, name, *_ in lines} == {
        (cell["family"], metric) for cell in LONGER for metric in MEASURES.values()
    }
    for family, name, *figures, p in lines:
        scores, pre_ln = (scores_of(each, MEASURES[name]) for each in (family, "pre_ln"))
        assert [each for each in figures if each] == [f"{score:.2f}" for score in scores]
        compared = family != "pre_ln" and len(scores) > 1
        assert p == (f"{ttest_ind(scores, pre_ln, equal_var=False).pvalue:.2f}" if compared else "")


def test_losses_of_the_longer_training_are_of_all_seeds() -> None:
    (_, *updates), *lines = lines_of("longer_losses")
    assert {family for family, *_ in lines} == {cell["family"] for cell in LONGER}
    for family, *shown in lines:
        losses = losses_of(family)
        assert [int(update) for update in updates] == list(losses)
        assert shown == [mean_of(each) for each in losses.values()]


def test_the_cells_of_the_plot_are_those_of_all_records() -> None:
    assert [cell.name for cell in joined(FOLDER).cells] == [cell["name"] for cell in LONGER]


def test_claims_about_the_longer_trainings_are_their_analysis() -> None:
    record = convert(json.loads((FOLDER.parent / "claims_longer.json").read_text()), ClaimsRecord)
    families = [model.family for model in record.trained]
    assert families == ["pre_ln", "admin", "admin", "resi_dual"]
    for name, table in TABLES.items():
        assert f"<!-- table {name} -->\n\n{table(record)}\n<!-- end -->" in PAGE
    assert "**no**" not in TABLES["claims"](record)
    (pre_ln, *_) = record.trained
    assert sum(loss > 0.02 for loss in pre_ln.left_out["encoder"]) == 2


def test_hours_are_of_the_shortest_and_the_longest_training() -> None:
    rows = []
    for (depth, updates), cells in groups(cells_of("short") + LONGER, "depth", "updates").items():
        hours = [cell["hours"] for cell in cells if cell["state"] == "done"]
        parameters = f"{cells[0]['parameters'] / 1e6:.1f} million"
        rows.append([depth, f"{updates:,}", parameters, f"{min(hours):.2f} to {max(hours):.2f}"])
    assert sorted(lines_of("cost")[1:]) == sorted(rows)
