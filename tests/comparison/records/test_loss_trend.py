"""A loss that still falls, before the report and the terminal call a model stuck."""

import json
import re
from pathlib import Path

import pytest

from realformer_nmt.checkpoints.run_files import CURVES
from realformer_nmt.common.files import checksummed_json
from realformer_nmt.comparison.grid.cell import CellFolder, Named, place
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.records.loss_trend import still_falls
from realformer_nmt.comparison.running import status

FALLING = (9.24, 6.44, 5.47, 5.10)
FLAT = (7.56, 7.57, 7.56, 7.55)


def stuck_cell(folder: Path, family: str, losses: tuple[float, ...]) -> CellFiles:
    cell: CellFolder = place(folder, Named(family, "6", 1))
    checksummed_json.write(cell.record_file, {"state": "stuck", "sessions": []})
    points = [{"num_updates": f"{10 * number}", "loss": f"{loss}"} for number, loss in enumerate(losses, 1)]
    (cell.folder / CURVES).write_text("".join(f"{json.dumps(point)}\n" for point in points))
    return CellFiles(cell)


@pytest.mark.parametrize(
    ("losses", "falls"),
    [
        ((12.0, 10.0, 9.0, 8.2, 7.6, 7.2), True),
        (FALLING, True),
        (FLAT, False),
        ((14.0, 9.0, 7.5, 7.46, 7.44, 7.45, 7.43, 7.42), False),  # stuck, after a fast fall
        ((7.0, 7.5), False),
        ((7.5, 7.0), True),
    ],
)
def test_the_last_quarter_is_compared_with_that_before(losses: tuple[float, ...], falls: bool) -> None:
    assert still_falls([CurvePoint(update=10 * number, nll_loss=loss) for number, loss in enumerate(losses)]) is falls


@pytest.mark.parametrize(
    ("losses", "state", "progress"),
    [(FALLING, "too few updates", "stuck, but the loss still falls"), (FLAT, "stuck", "stuck")],
)
def test_the_terminal_says_of_stuck_cells_what_the_report_says(
    losses: tuple[float, ...], state: str, progress: str, tmp_path: Path
) -> None:
    cells = [stuck_cell(tmp_path, "admin", FALLING), stuck_cell(tmp_path, "post_ln", losses)]
    rows = status.table(cells).splitlines()[2:]
    assert [re.split(r" {2,}", row)[1] for row in rows] == [state, state]
    assert cells[1].progress == progress
