"""A comparison of which no model has learned yet, and one whose models do not learn."""

import math

import pytest
from grids.sample_results import CellCurves, CurvePoint, Results, change_cells, change_rows, sample
from lxml import html
from msgspec.structs import replace

from realformer_nmt.comparison.report import document, tables
from realformer_nmt.comparison.report.finding import finding
from realformer_nmt.comparison.results.results_file import TunedTable
from realformer_nmt.comparison.results.too_short import restated

SENTENCE = "10 of 10 trainings ended; 120 updates are too few to tell which family learns: the losses still fall."


def curve(*losses: float) -> list[CurvePoint]:
    return [CurvePoint(update=10 * number, nll_loss=loss) for number, loss in enumerate(losses, 1)]


FALLING = curve(*(7 + 6 * math.exp(-number / 4) for number in range(12)))
FLAT = curve(*(7 + 6 * math.exp(-number) + 0.1 * math.sin(9 * number) for number in range(12)))


def stuck(train: list[CurvePoint]) -> Results:
    results = sample(seeds=1)
    blank = {"scores": {}, "shortcuts": [], "curves": CellCurves(train=train)}
    change_cells(results, lambda _: True, state="stuck", evidence="training loss 7.30 bits", **blank)
    nothing = {"scores": {}, "delta": None, "p": None, "p_holm": None, "p_best": None, "best": False}
    change_rows(results, lambda _: True, states=["stuck"], seeds=0, failed=1, **nothing)
    return replace(results, tuned=TunedTable(axes=["lr"], rows=list(results.rows)))


def test_too_few_updates_are_no_failure() -> None:
    results = restated(stuck(FALLING))
    assert finding(results) == SENTENCE
    page = html.fromstring(document.page(results))
    tiles = {tile.findtext("dt"): tile.find("dd").text_content() for tile in page.xpath("//dl[@class='tiles']/div")}
    assert (tiles["trainings ended"], tiles["failed to train"]) == ("10 of 10", "0")
    assert page.xpath("//*[@class='fallen'] | //td[@class='failed'] | //*[contains(@class, 'stuck')]") == []
    for text in (tables.terminal_table(results), tables.markdown(results), tables.latex(results)):
        assert "failed" not in text
        assert text.count("too few updates") == 2 * 10  # all rows, and those that were chosen


@pytest.mark.parametrize("train", [FLAT, []], ids=["flat", "none"])
def test_one_model_whose_loss_does_not_fall_is_stuck_and_so_are_all(train: list[CurvePoint]) -> None:
    results = stuck(FALLING)
    results.cells[3] = replace(results.cells[3], curves=CellCurves(train=train))
    assert restated(results) is results
    assert finding(results).startswith("No family learns")
