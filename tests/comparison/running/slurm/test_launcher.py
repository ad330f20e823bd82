"""Cells as jobs of a stand-in of SLURM's commands, without accounting; reliability/cluster.py has the real ones."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from grids import cluster, comparisons
from grids.grid_cells import cells_of, only

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.comparison import compare as compare_recipe
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.comparison import Comparison
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.slurm import array_tasks, launcher, queue
from realformer_nmt.comparison.running.slurm.queue import QueuedTask
from realformer_nmt.comparison.running.slurm.watch import Watch

Program = Iterator[Callable[[], "subprocess.Popen[str]"]]


@pytest.fixture
def compare(folder: Path) -> Program:
    """The command as a process; its jobs end with the test."""
    words = (folder / "grid.toml", "--folder", folder / "runs", "--launcher", "slurm")
    environment = cluster.install(folder)
    yield lambda: comparisons.start(*words, **environment)
    for process in processes(folder):
        subprocess.run(["/bin/kill", "-KILL", "--", f"-{process}"], check=False, capture_output=True)


def processes(folder: Path) -> list[int]:
    return [int(file.read_text()) for file in folder.glob("*.task")]


def wait_for_running(folder: Path, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 120
    while not processes(folder) or CellState(only(folder)[0]).state != "running":
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_same_command_attaches_to_the_jobs_of_one_that_was_terminated(
    folder: Path, compare: Callable[[], "subprocess.Popen[str]"]
) -> None:
    """It submits none again, brings their results back, and had given sbatch the grid's settings."""
    first = compare()
    wait_for_running(folder, first)
    first.send_signal(signal.SIGTERM)
    _, err = first.communicate(timeout=60)
    assert "the jobs go on" in err
    assert not (folder / "cancelled").exists()
    second = compare()
    _, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    (submitted,) = folder.glob("submitted-*")
    options = {*submitted.read_text().split()}
    assert {"--partition=deep", "--time=30", "--requeue", "--array=0-0%1", "--job-name=realformer-1-s1"} <= options
    assert "JobName=realformer-1-s1" in (folder / "controlled").read_text()
    assert [cell["state"] for cell in comparisons.results(folder / "runs")["cells"]] == ["stuck"]
    assert len(CellState(only(folder)[0]).record.sessions) == 1


def test_an_interruption_cancels_the_jobs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[list[str]] = []

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(queue, "submit", lambda *_: 7)
    monkeypatch.setattr(queue, "cancel", cancelled.append)
    monkeypatch.setattr(Watch, "wait", interrupt)
    request = CompareRequest(grid=folder / "grid.toml", folder=folder / "runs", launcher="slurm")
    cells = only(folder)
    with pytest.raises(UserError, match="interrupted; rerun the same command to resume"):
        compare_recipe.launch(request, Comparison(load(request.grid), cast(Any, None), cells, cells, 0), cells)
    assert cancelled == [[], ["7_0"]]


def test_the_cells_are_the_tasks_of_one_array(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[list[str]] = []
    monkeypatch.setattr(queue, "submit", lambda words, _: submitted.append([*words]) or len(submitted))
    grid = load(folder / "grid.toml").with_seeds(4)
    request = CompareRequest(grid=folder / "grid.toml", folder=folder / "runs", launcher="slurm")
    few = replace(grid, slurm={"at-once": 2})
    running = launcher.submit(folder / "runs/slurm", request, few, cells_of(grid, folder / "runs"))
    assert [task.id for task in running.values()] == ["1_0", "1_1", "1_2", "1_3", "1_4"]
    assert [word for words in submitted for word in words if word.startswith("--array")] == ["--array=0-4%2"]


def test_a_job_with_other_settings_is_cancelled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm = folder / "runs/slurm"
    array_tasks.record(slurm, 7, only(folder))
    cancelled: list[list[str]] = []
    monkeypatch.setattr(queue, "tasks", lambda _: {"7_0": QueuedTask("PENDING", "None")})
    monkeypatch.setattr(queue, "cancel", lambda ids: cancelled.append(ids))
    assert [task.id for task in launcher.attach(slurm, only(folder)).values()] == ["7_0"]
    grid = folder / "grid.toml"
    grid.write_text(grid.read_text().replace("updates = 200", "updates = 100"))
    assert launcher.attach(slurm, only(folder)) == {}
    assert cancelled == [[], ["7_0"]]
    assert "was submitted with other settings" in capsys.readouterr().err


def test_the_running_job_of_a_cell_that_is_made_again_is_ended_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = only(folder)
    array_tasks.record(folder / "runs/slurm", 7, cells)
    record, job = cells[0].train.record, locked(cells[0].lock, "runs")
    record.write_text("{}")  # of no training that the grid asks for
    states = {True: QueuedTask("CANCELLED", "None"), False: QueuedTask("RUNNING", "None")}
    monkeypatch.setattr(queue, "tasks", lambda _: {"7_0": states[job.closed]})
    monkeypatch.setattr(queue, "cancel", lambda ids: job.close() if ids == ["7_0"] else None)
    monkeypatch.setattr(compare_recipe, "launch", lambda *_: [])
    request = CompareRequest(grid=folder / "grid.toml", folder=folder / "runs", launcher="slurm", fresh=True)
    compare_recipe.train_and_score(request, Comparison(load(request.grid), cast(Any, None), cells, cells, 0))
    assert job.closed
    assert not record.exists()
