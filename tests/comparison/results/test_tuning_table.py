"""Each family with its own learning rate: chosen by the validation loss alone, tested with all that was tried."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from grids.sample_results import sample
from lxml import html
from msgspec.structs import replace as with_fields
from test_summary import described, make_cell, p_of_sacrebleu, scored

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.report import document, tables
from realformer_nmt.comparison.results import summary, tuning_table
from realformer_nmt.comparison.results.cell_result import CellResult, CellScore
from realformer_nmt.comparison.results.results_file import ResultRow, TunedTable

LOSSES = {("base", 0.1): 3.0, ("base", 0.2): 2.0, ("ours", 0.1): 1.5, ("ours", 0.2): 2.5}
SCORES = {("base", 0.1): 25.0, ("base", 0.2): 20.0, ("ours", 0.1): 30.0, ("ours", 0.2): 35.0}


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours and sacreBLEU's alike."""
    monkeypatch.setattr(summary, "SAMPLES", 300)


NO_STATES: Mapping[tuple[object, ...], str] = {}  # by family and learning rate, and of one seed by its number, too
Table = tuple[list[ResultRow], list[CellResult], list[Cell]]


def tried(folder: Path, states: Mapping[tuple[object, ...], str] = NO_STATES) -> Table:
    """The table, what it is made of and the cells: two seeds of each setting; translations differ by family alone."""
    cells, records = [], []
    for (family, lr), loss in LOSSES.items():
        for seed in (1, 2):
            state = states.get((family, lr, seed), states.get((family, lr), "done"))
            (folder / str(lr)).mkdir(exist_ok=True)
            cell = replace(make_cell(folder / str(lr), family, seed, state), point=(("lr", lr),))
            record = described(cell, state, SCORES[family, lr])
            record.scores["valid_loss"] = CellScore(score=loss + seed / 10)
            records.append(with_fields(record, name=cell.name + str(lr), axes={"lr": lr}))
            cells.append(replace(cell, folder=cell.folder.rename(cell.folder.with_name(cell.name + str(lr)))))
    return summary.rows(records, scored(cells), "bleu", "base"), records, scored(cells)


def tuned(folder: Path, states: Mapping[tuple[object, ...], str] = NO_STATES) -> dict[str, ResultRow]:
    return {row.family: row for row in tuning_table.rows(*tried(folder, states), "bleu", "base", ["lr"])}


def test_the_lowest_validation_loss_chooses_and_not_the_test_set(tmp_path: Path) -> None:
    rows = tuned(tmp_path)
    assert {family: row.axes["lr"] for family, row in rows.items()} == {"base": 0.2, "ours": 0.1}
    assert {family: row.tried for family, row in rows.items()} == {"base": 2, "ours": 2}
    assert rows["ours"].delta["bleu"] == 30.0 - 20.0
    assert rows["base"].delta is rows["base"].p is None


def test_the_seeds_that_try_choose_whatever_the_others_do(tmp_path: Path) -> None:
    """A further seed of the chosen setting may come out worse than the first one of another."""
    table, records, cells = tried(tmp_path)
    for record in records:
        if record.seed == 2 and record.axes["lr"] == 0.1:
            record.scores["valid_loss"] = CellScore(score=record.scores["valid_loss"].score + 10)
    family_rows = [row for row in table if row.family == "ours"]
    first = [record for record in records if record.seed == 1]
    rates = [tuning_table.rows(family_rows, of, cells, "bleu", "base", ["lr"])[0].axes["lr"] for of in (first, records)]
    assert rates == [0.1, 0.2]


@pytest.mark.parametrize("state", ["done", "stuck", "diverged"])
def test_p_is_corrected_for_every_setting_that_was_tried(state: str, tmp_path: Path) -> None:
    """Two settings of ours are tested against the baseline's one: Holm's factor is 2, whether one failed or not."""
    row = tuned(tmp_path, {("ours", 0.2): state})["ours"]
    assert row.p == max(p_of_sacrebleu("ours", seed) for seed in (1, 2))
    assert (row.axes, row.tried, row.p_holm) == ({"lr": 0.1}, 2, 2 * row.p)


def test_a_setting_that_failed_is_not_chosen(tmp_path: Path) -> None:
    rows = tuned(tmp_path, {("ours", 0.1): "stuck"})
    assert rows["ours"].axes["lr"] == 0.2


def test_a_family_that_failed_with_all_of_them_has_failed(tmp_path: Path) -> None:
    rows = tuned(tmp_path, {("ours", 0.1): "stuck", ("ours", 0.2): "diverged"})
    assert rows["ours"].seeds == 0
    assert rows["ours"].failed == 4
    assert rows["ours"].delta is rows["ours"].p is None


def test_page_and_tables_show_what_was_chosen(tmp_path: Path) -> None:
    table, records, cells = tried(tmp_path)
    best = tuning_table.rows(table, records, cells, "bleu", "base", ["lr"])
    tuned_table = TunedTable(axes=["lr"], seeds=[1], rows=best)
    results = with_fields(sample(), axes=["lr"], baseline="base", rows=table, tuned=tuned_table, cells=[], examples=[])
    page = html.fromstring(document.page(results))
    section = page.xpath("//section[h2='Each family with its own learning rate']")[0]
    shown = {row.findtext("th"): row.findtext("td[2]") for row in section.xpath(".//tbody/tr")}
    assert shown == {"ours": "0.1", "base": "0.2"}
    assert "lowest validation loss (mean over seed 1)" in section.xpath("string(.//p)")
    assert "corrected for all 2 settings of the other families that were tried" in section.xpath("string(.//p)")
    assert "Each family with its own learning rate:" in tables.markdown(results)
    lines = [line.split(",") for line in tables.spreadsheet(results).splitlines()]
    columns = [lines[0].index(name) for name in ("family", "lr", "tried")]
    assert [[line[column] for column in columns] for line in lines[-2:]] == [["ours", "0.1", "2"], ["base", "0.2", "2"]]
