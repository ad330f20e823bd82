"""Curves of a file that grows, is cut off and is written again from an earlier update."""

import json
import math
from pathlib import Path

import pytest

from realformer_nmt.checkpoints.run_files import CURVES
from realformer_nmt.comparison.records.curves import CurvePoint, Curves, still_falls


def line(update: int, loss: str) -> str:
    return json.dumps(
        {"epoch": 1, "update": 0.5, "loss": loss, "nll_loss": loss, "wps": "9", "num_updates": str(update)}
    )


def test_a_growing_file_is_read_on_where_it_was(tmp_path: Path) -> None:
    curves = Curves(tmp_path)
    assert not curves.grow()
    with (tmp_path / CURVES).open("a") as file:
        file.write(f"{{'a': 'dictionary'}}\n{line(10, '5.0')}\n{line(20, '4.0')[:30]}")
        file.flush()
        assert curves.grow()
        assert [point.update for point in curves.train] == [10]
        assert not curves.grow()
        file.write(f"{line(20, '4.0')[30:]}\n")
        file.flush()
        assert curves.grow()
    assert [(point.update, point.nll_loss) for point in curves.train] == [(10, 5.0), (20, 4.0)]
    with (tmp_path / CURVES).open("a") as file:  # resumed
        file.write(f"{line(20, '3.5')}\n{line(10, '5.5')}\n")
    assert [(point.update, point.loss) for point in Curves(tmp_path).train] == [(10, 5.5), (20, 3.5)]


def test_validations_are_a_curve_of_their_own(tmp_path: Path) -> None:
    valid = {"epoch": 1, "valid_loss": "5.1", "valid_nll_loss": "4.2", "valid_bleu": "7.5", "valid_num_updates": "20"}
    (tmp_path / CURVES).write_text(
        f"{line(20, 'nan')}\n{json.dumps(valid)}\n[1]\n7\n{'[' * 100_000}\n{line(9, 'low')}\n"
    )
    curves = Curves(tmp_path)
    assert curves.valid == [CurvePoint(update=20, loss=5.1, nll_loss=4.2, bleu=7.5)]
    assert [point.update for point in curves.train] == [20]
    assert math.isnan(curves.train[0].loss or 0.0)  # not a number, and kept as such


@pytest.mark.parametrize(
    ("losses", "falls"),
    [
        ((12.0, 10.0, 9.0, 8.2, 7.6, 7.2), True),
        ((7.56, 7.57, 7.56, 7.55), False),
        ((14.0, 9.0, 7.5, 7.46, 7.44, 7.45, 7.43, 7.42), False),  # stuck, after a fast fall
        ((7.5, 7.0), True),
    ],
)
def test_the_last_quarter_is_compared_with_that_before(losses: tuple[float, ...], falls: bool) -> None:
    assert still_falls([CurvePoint(update=10 * number, nll_loss=loss) for number, loss in enumerate(losses)]) is falls
