"""Jobs that a comparison takes for its own."""

from pathlib import Path

import pytest
from grids.slurm_cells import only

from realformer_nmt.comparison.running.slurm import queue, submissions
from realformer_nmt.comparison.running.slurm.queue import QueuedTask
from realformer_nmt.comparison.running.slurm.submissions import Memory


def test_a_kill_between_sbatch_and_its_record_loses_no_job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(folder / "runs/slurm")
    submission = memory.begin(memory.next_folder(), only(folder), "", "true")
    script = memory.folder / "1" / submissions.SCRIPT
    listed = QueuedTask(7, 0, "PENDING", "Resources", str(script))
    monkeypatch.setattr(queue, "_listed", lambda which: [listed] if which.startswith(("--user", "--jobs=7")) else [])
    assert submission.job is None
    assert Memory(folder / "runs/slurm").alive()["realformer-1-s1"].id == "7_0"


def test_a_job_of_somebody_elses_script_is_not_taken_for_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(folder / "runs/slurm")
    memory.submitted(memory.begin(memory.next_folder(), only(folder), "", "true"), 7)
    monkeypatch.setattr(queue, "_listed", lambda _: [QueuedTask(7, 0, "RUNNING", "None", "/another/job.sh")])
    assert Memory(folder / "runs/slurm").alive() == {}
