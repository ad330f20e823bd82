"""The best of a table, and what a test of significance cannot tell from it."""

from pathlib import Path

import pytest
from grids.lower_is_better import add_ter
from grids.sample_results import sample
from lxml import html
from msgspec.structs import replace
from sacrebleu.metrics import TER
from test_summary import REFERENCE, described, hypotheses, make_cell, p_of_sacrebleu, scored

from realformer_nmt.comparison.report import document, tables
from realformer_nmt.comparison.results import best, summary
from realformer_nmt.comparison.results.cell_result import CellScore
from realformer_nmt.comparison.results.results_file import ResultRow, metric_column


def marked(folder: Path, seeds: dict[str, list[int]], scores: dict[str, float]) -> dict[str, ResultRow]:
    cells = [make_cell(folder, family, seed) for family, family_seeds in seeds.items() for seed in family_seeds]
    cell_results = [described(cell, score=scores[cell.family] + cell.seed / 10) for cell in cells]
    return {
        row.family: row
        for row in best.mark(summary.rows(cell_results, scored(cells), "bleu", "base"), scored(cells), "bleu")
    }


def test_what_cannot_be_distinguished_from_the_best_is_best_too(tmp_path: Path) -> None:
    """`same` says what `base` says, so that one is not better than the other, whatever their means."""
    rows = marked(tmp_path, {"base": [1], "same": [1]}, {"base": 20.0, "same": 20.5})
    assert {family: row.best for family, row in rows.items()} == {"base": True, "same": True}
    assert rows["same"].p_best is None
    assert rows["base"].p_best == 1


def test_what_is_significantly_below_the_best_is_not(tmp_path: Path) -> None:
    rows = marked(
        tmp_path, {"base": [1, 2], "ours": [1, 2], "same": [1, 2]}, {"base": 20.0, "ours": 30.0, "same": 20.0}
    )
    assert {family: row.best for family, row in rows.items()} == {"base": False, "ours": True, "same": False}
    expected = 2 * max(p_of_sacrebleu("ours", seed) for seed in (1, 2))  # the two tests are one: Holm's factor of 2
    assert rows["base"].p_best == rows["same"].p_best == expected < 0.05


def test_without_a_seed_in_common_two_cannot_be_distinguished(tmp_path: Path) -> None:
    rows = marked(tmp_path, {"base": [1], "ours": [2]}, {"base": 20.0, "ours": 30.0})
    assert [rows[family].best for family in ("base", "ours")] == [True, True]


def test_where_nothing_is_scored_nothing_is_best(tmp_path: Path) -> None:
    cells = [make_cell(tmp_path, "base", 1, "stuck"), make_cell(tmp_path, "ours", 1)]
    rows = summary.rows(
        [described(cells[0], "stuck", 0.5), described(cells[1], score=30.0)], scored(cells), "bleu", "base"
    )
    assert [row.best for row in best.mark(rows, scored(cells), "bleu")] == [False, True]
    assert [row.best for row in best.mark(rows, scored(cells), "chrf")] == [False, False]


def test_where_less_is_better_the_lowest_is_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TER of `ours`, which errs less often, is significantly below that of the others."""
    add_ter(monkeypatch)
    cells = [make_cell(tmp_path, family, 1) for family in ("base", "ours", "same")]
    errors = {cell.family: TER().corpus_score(hypotheses(cell.family, 1), [REFERENCE]).score for cell in cells}
    assert errors["ours"] < errors["base"] == errors["same"]
    cell_results = [replace(described(cell), scores={"ter": CellScore(score=errors[cell.family])}) for cell in cells]
    rows = best.mark(summary.rows(cell_results, scored(cells), "ter", "base"), scored(cells), "ter")
    assert {row.family: row.best for row in rows} == {"base": False, "ours": True, "same": False}
    assert rows[1].p_best is None
    assert rows[1].p_holm < 0.05
    results = replace(sample(), rows=rows, metric="ter", baseline="base", cells=[], examples=[])
    results = replace(results, metrics=[metric_column("ter")], test=replace(results.test, metric="ter"))
    page = html.fromstring(document.page(results))
    assert [row.findtext("th") for row in page.xpath("//tr[td[@class='best']]")] == ["ours"]
    tile = page.xpath("string(//dl[@class='tiles']/div[dt = 'best TER']/dd)")
    assert tile.split()[:2] == [f"{errors['ours']:.2f}", "ours,"]
    assert "of TER, 10,000 samples" in tables.markdown(results)
    assert "Lower TER is better." in tables.markdown(results)
