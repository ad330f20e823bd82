"""The sentence on trainings that were too short, from results made by hand."""

import pytest
from grids.sample_results import sample
from msgspec.structs import replace

from realformer_nmt.comparison.results import short_trainings
from realformer_nmt.comparison.results.cell_result import CellCurves, CurvePoint
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.comparison.running.verdict import STILL_FALLS

FALLING, FLAT = f"training loss 8.00 bits a token; {STILL_FALLS}", "training loss 8.00 bits a token"


def results(*evidence: str) -> Results:
    curves = CellCurves(train=[CurvePoint(update=100, loss=8.0)], valid=[CurvePoint(update=120, loss=8.0)])
    cell = replace(sample().cells[0], curves=curves)
    return replace(sample(), cells=[replace(cell, state="stuck", evidence=text) for text in evidence])


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        ([FALLING] * 12, "all 12 ended; 120 updates are too few to tell: the losses still fall"),
        ([FALLING] * 2 + [FLAT], "all 3 ended; 120 updates are too few to tell: 2 losses still fall"),
        ([FLAT] * 3, ""),
    ],
)
def test_trainings_that_are_all_stuck_while_their_losses_fall_were_too_short(
    evidence: list[str], sentence: str
) -> None:
    assert short_trainings.sentence(results(*evidence)) == sentence


def test_nothing_is_said_once_a_model_has_learned() -> None:
    short = results(FALLING, FALLING)
    learned = replace(short.cells[0], state="done", evidence=None)
    assert short_trainings.sentence(replace(short, cells=[*short.cells, learned])) == ""
