"""A job whose time is over before its cell has ended."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from grids.slurm_cells import only

from realformer_nmt.checkpoints.train_record import TrainingSession, TrainRecord
from realformer_nmt.common.files import records
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.running.slurm import job, queue, written_cells
from realformer_nmt.comparison.running.slurm.queue import QueueError


@pytest.fixture
def nearly_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """Prepare a job whose time is over as soon as its cell runs, and yield its calls of SLURM."""
    before = signal.getsignal(signal.SIGUSR2)
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "call", lambda *words: called.append(words))
    monkeypatch.setattr(job, "run_to_end", lambda _: os.kill(os.getpid(), signal.SIGUSR2))
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "7")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    written_cells.write(folder / written_cells.FILE, only(folder))
    yield called
    signal.signal(signal.SIGUSR2, before)


def test_a_job_whose_time_is_nearly_over_is_queued_again(folder: Path, nearly_over: list[tuple[str, ...]]) -> None:
    assert job.main(folder / written_cells.FILE, "mine-") == 0
    update = ("scontrol", "update", "JobId=7_0", "JobName=mine-realformer-1-s1")
    assert nearly_over == [update, ("scontrol", "requeue", "7_0")]
    assert not (folder / "0.ended").exists()


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
        assert job.main(folder / written_cells.FILE, "") == 0
    assert [words[1] for words in nearly_over].count("requeue") == 5
    assert job.main(folder / written_cells.FILE, "") == 0
    assert [words[1] for words in nearly_over].count("requeue") == 5
    assert (folder / "0.ended").exists()
    assert "nothing was saved in 3 starts" in (CellFiles(cell).evidence or "")


def test_a_training_that_records_its_time_alone_has_saved_nothing(
    folder: Path, nearly_over: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (cell,) = only(folder)

    def training(_: Cell) -> None:
        record = TrainRecord(sessions=[TrainingSession(started="now", seconds=float(len(nearly_over)), gpus=0)])
        records.write(cell.stages[0].record, record)
        os.kill(os.getpid(), signal.SIGUSR2)

    monkeypatch.setattr(job, "run_to_end", training)
    for _ in range(3):
        assert job.main(folder / written_cells.FILE, "") == 0
    assert [words[1] for words in nearly_over].count("requeue") == 2
    assert "nothing was saved in 3 starts" in (CellFiles(cell).evidence or "")


def test_a_job_that_cannot_be_queued_again_is_an_error(
    folder: Path, nearly_over: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*words: str) -> str:
        raise QueueError(f"{words[0]}: Requested operation is presently disabled")

    monkeypatch.setattr(queue, "call", refused)
    assert job.main(folder / written_cells.FILE, "") == 1
    assert nearly_over == []
    assert "cannot be queued again: scontrol: Requested" in (CellFiles(only(folder)[0]).evidence or "")
