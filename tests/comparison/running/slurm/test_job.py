"""A job whose time is over before its cell has ended."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from grids.grid_cells import only

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.slurm import job, launcher, queue
from realformer_nmt.comparison.running.slurm.queue import QueueError


@pytest.fixture
def called(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """Prepare the job of the only cell, and yield its calls of SLURM."""
    before = signal.getsignal(signal.SIGUSR2)
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "call", lambda *words: called.append(words))
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "7")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    submit(folder)
    yield called
    signal.signal(signal.SIGUSR2, before)


@pytest.fixture
def nearly_over(called: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Prepare a job whose time is over as soon as its cell runs, and return its calls of SLURM."""
    monkeypatch.setattr(job, "run_to_end", lambda _: os.kill(os.getpid(), signal.SIGUSR2))
    return called


def submit(folder: Path) -> Cell:
    """Write what the job of the only cell reads, and return the cell."""
    launcher.copy_of(load(folder / "grid.toml"), folder / "runs/slurm")
    return only(folder)[0]


def start(folder: Path, *more: str) -> int:
    """Run a job of the newest copy of the grid."""
    copy = max((folder / "runs/slurm").glob("grid-*.toml"), key=lambda path: path.stat().st_mtime_ns)
    options = ("--folder", str(folder / "runs"), "--launcher", "slurm", "--gpus", "0", *more)
    return job.main(copy, [str(folder / "grid.toml"), *options, "--cell", "realformer-1-s1"])


def run_by_jobs(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """Return a list that gets the cells that jobs run, which takes no time then."""
    cells: list[Cell] = []
    monkeypatch.setattr(job, "run_to_end", cells.append)
    return cells


@pytest.mark.usefixtures("called")
def test_a_job_runs_the_cell_as_it_was_submitted_though_the_grid_has_changed_since(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, grid = run_by_jobs(monkeypatch), folder / "grid.toml"
    corpus = Path(only(folder)[0].data).parent
    (folder / "corpus").symlink_to(corpus)
    grid.write_text(grid.read_text().replace(str(corpus), "corpus"))  # a path from the grid's folder
    cell = submit(folder)
    assert cell.data == folder / "corpus/data-bin"
    grid.write_text(grid.read_text().replace("updates = 200", "updates = 100"))
    assert only(folder) != [cell]
    assert start(folder) == 0
    assert started == [cell]
    assert (folder / "runs/slurm/7_0.ended").exists()


@pytest.mark.usefixtures("called")
def test_the_folder_of_a_users_rows_is_imported_for_the_scores_of_any_cell(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    rows = tmp_path / "rows_of_a_user"
    rows.mkdir()
    (rows / "__init__.py").touch()
    started = run_by_jobs(monkeypatch)
    start(folder, "--user-dir", str(rows))
    (cell,) = started
    assert not cell.train.request.user_dir
    assert {stage.request.user_dir for stage in cell.after_training} == {rows}
    assert rows.name in sys.modules


def test_a_job_whose_time_is_nearly_over_is_queued_again(folder: Path, nearly_over: list[tuple[str, ...]]) -> None:
    grid = folder / "grid.toml"
    grid.write_text(grid.read_text().replace("[slurm]", '[slurm]\njob-name = "mine"'))
    submit(folder)
    assert start(folder) == 0
    update = ("scontrol", "update", "JobId=7_0", "JobName=mine-realformer-1-s1")
    assert nearly_over == [update, ("scontrol", "requeue", "7_0")]
    assert not (folder / "runs/slurm/7_0.ended").exists()


def test_three_starts_that_save_nothing_are_an_error(
    folder: Path, nearly_over: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (cell,) = only(folder)

    def saving(_: Cell) -> None:
        cell.checkpoints.mkdir(parents=True)
        (cell.checkpoints / "checkpoint1.pt").touch()
        os.kill(os.getpid(), signal.SIGUSR2)

    vain = job.run_to_end
    for run in (vain, vain, saving, vain, vain):
        monkeypatch.setattr(job, "run_to_end", run)
        assert start(folder) == 0
    assert [words[1] for words in nearly_over].count("requeue") == 5
    assert start(folder) == 0
    assert [words[1] for words in nearly_over].count("requeue") == 5
    assert (folder / "runs/slurm/7_0.ended").exists()
    assert "nothing was saved in 3 starts" in (CellState(cell).evidence or "")


def test_a_job_that_cannot_be_queued_again_is_an_error(
    folder: Path, nearly_over: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*words: str) -> str:
        raise QueueError(f"{words[0]}: Requested operation is presently disabled")

    monkeypatch.setattr(queue, "call", refused)
    assert start(folder) == 1
    assert nearly_over == []
    assert "cannot be queued again: scontrol: Requested" in (CellState(only(folder)[0]).evidence or "")
    assert (folder / "runs/slurm/7_0.ended").exists()  # so that `compare` keeps this evidence
