"""Cells as jobs: through submitit's local executor, and through a stand-in of SLURM's commands."""

import signal
import time
from pathlib import Path

import cluster
import comparisons
import pytest
from grid_cells import cells_of

from realformer_nmt.cli import main
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.comparison.running import slurm
from realformer_nmt.comparison.running.cell_run import Progress

MORE = """
[slurm]
slurm_partition = "deep"
timeout_min = 30
"""


@pytest.fixture
def folder(tmp_path: Path, toy_corpus: Path) -> Path:
    """With a grid of one cell, whose learning rate of 0 has it stopped as stuck."""
    grid = comparisons.write_grid(tmp_path, toy_corpus, more=MORE)
    text = grid.read_text()
    for whole, one in comparisons.ONLY_STUCK.items():
        assert whole in text
        text = text.replace(whole, one)
    grid.write_text(text)
    return tmp_path


def only(folder: Path) -> list[Cell]:
    grid = load(folder / "grid.toml")
    return cells_of(grid, folder / "runs")


def test_a_cell_runs_as_a_job_of_submitit(folder: Path) -> None:
    (cell,) = only(folder)
    told: list[Progress] = []
    slurm.launch([cell], folder / "runs", {"timeout_min": 5}, lambda _, progress: told.append(progress), "local")
    assert CellRecord(cell).state == told[-1].state == "stuck"
    assert any("job" in progress.state for progress in told)


def test_the_grids_settings_reach_sbatch_and_the_result_comes_back(folder: Path) -> None:
    process = comparisons.start(
        folder / "grid.toml", "--folder", folder / "runs", "--launcher", "slurm", **cluster.install(folder)
    )
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    (script,) = folder.glob("submitted-*.sh")
    assert "#SBATCH --partition=deep" in script.read_text()
    assert "#SBATCH --time=30" in script.read_text()
    assert [cell["state"] for cell in comparisons.results(folder / "runs")["cells"]] == ["stuck"]


def test_an_interruption_cancels_the_jobs(folder: Path) -> None:
    process = comparisons.start(
        folder / "grid.toml", "--folder", folder / "runs", "--launcher", "slurm", **cluster.install(folder)
    )
    while not list(folder.glob("*.pid")) or CellRecord(only(folder)[0]).state != "running":
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "the same command goes on" in err
    (job,) = folder.glob("*.pid")
    assert (folder / "cancelled").read_text().split() == [job.stem]


def test_settings_that_submitit_does_not_know_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = folder / "grid.toml"
    grid.write_text(grid.read_text() + "colour = 'red'\n")
    for name, value in cluster.install(folder).items():
        monkeypatch.setenv(name, value)
    words = ["compare", str(grid), "--folder", str(folder / "runs"), "--launcher", "slurm", "--gpus", "0"]
    assert main(words) == 1
    assert "colour" in capsys.readouterr().err
