"""`compare --status`: a row for each cell, by its records and its curves."""

import json
import re
from pathlib import Path

import pytest
from grids.grid_cells import stub

from realformer_nmt.checkpoints.run_files import CURVES
from realformer_nmt.common.files import json_records
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running import status

FALLING = (9.24, 6.44, 5.47, 5.10)
FLAT = (7.56, 7.57, 7.56, 7.55)


def write_curves(folder: Path, *points: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CURVES).write_text("".join(f"{json.dumps(point)}\n" for point in points))


@pytest.mark.parametrize(
    ("complete", "validated", "shown"),
    [(False, 40, "480"), (True, 40, "500"), (True, 484, "484")],  # the last was ended by --patience
)
def test_the_updates_that_are_done_are_counted(tmp_path: Path, complete: bool, validated: int, shown: str) -> None:
    """A curve has a point at every twentieth; the last update is seldom one."""
    state = CellState(stub(tmp_path))
    json_records.write_sealed(state.cell.folder / "train.json", {"updates": 500, "complete": complete})
    points = {"num_updates": "480", "loss": "5.0"}, {"valid_num_updates": validated, "valid_loss": "5.0"}
    write_curves(state.cell.folder, *points)
    (row,) = status.table([state]).splitlines()[2:]
    assert row.split() == ["admin-6-s1", "waiting", shown, "500", "5.00"]


@pytest.mark.parametrize(
    ("losses", "state", "progress"),
    [(FALLING, "too few updates", "stuck, but the loss still falls"), (FLAT, "stuck", "stuck")],
)
def test_the_terminal_says_of_stuck_cells_what_the_report_says(
    losses: tuple[float, ...], state: str, progress: str, tmp_path: Path
) -> None:
    states = [CellState(stub(tmp_path, family=family)) for family in ("admin", "post_ln")]
    for each, values in zip(states, (FALLING, losses), strict=True):
        json_records.write_sealed(each.cell.record_file, {"state": "stuck", "sessions": []})
        points = ({"num_updates": f"{10 * number}", "loss": f"{loss}"} for number, loss in enumerate(values, 1))
        write_curves(each.cell.folder, *points)
    rows = status.table(states).splitlines()[2:]
    assert [re.split(r" {2,}", row)[1] for row in rows] == [state, state]
    assert states[1].progress == progress
