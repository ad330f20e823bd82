"""Progress of running cells, on a terminal and in a file."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from grids.grid_cells import stub
from rich.console import Console

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.running.cell_run import Progress
from realformer_nmt.comparison.running.progress import Live


def cells(*families: str) -> list[Cell]:
    return [replace(stub(Path()), folder=Path(f"{family}-6-s1")) for family in families]


def test_a_cell_that_is_trained_has_done_all_its_updates() -> None:
    """Though its curve has a point at every twentieth only."""
    file = io.StringIO()
    (cell,) = cells("admin")
    with Live([cell], Console(file=file, force_terminal=True, width=150)) as live:
        live.show(cell, Progress("train", 240, 244, 4.25, 5432.1))
        assert "244/244" not in file.getvalue()
        live.show(cell, Progress("average.pt", 240, 244, 4.25, 5432.1))
    assert "244/244" in file.getvalue()


def test_a_job_is_seen_once_it_runs_and_named_once_when_it_ends() -> None:
    file = io.StringIO()
    (cell,) = cells("admin")
    with Live([cell], Console(file=file, force_terminal=True, width=150)) as live:
        live.show(cell, Progress("interrupted, job 7 pending"))
        assert "job 7" not in file.getvalue()
        for state in ("running, job 7 running", "done, job 7 running", "done, job 7 completed", "done"):
            live.show(cell, Progress(state))
    assert file.getvalue().count("admin-6-s1: done") == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_a_file_gets_a_line_for_each_change_of_state_and_a_terminal_bars(terminal: bool) -> None:
    file = io.StringIO()
    one, other = cells("admin", "[red]")
    with Live([one, other], Console(file=file, force_terminal=terminal, width=150)) as live:
        for update in (50, 100):
            live.show(one, Progress("train", update, 200, 4.25, 5432.1))
        live.show(other, Progress("stuck"))
    lines = ["admin-6-s1: train, 4.25 bits, 5,432 tokens/s", "[red]-6-s1: stuck"]
    assert (file.getvalue().splitlines() == lines) != terminal
    if terminal:
        assert all(part in file.getvalue() for part in ("100/200", "4.25 bits", "5,432 tokens/s", lines[1], "1/2"))
