"""A comparison watches its jobs, by a clock that stands still until it sleeps."""

import itertools
from pathlib import Path

import pytest
from grids.grid_cells import only

from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.cell_run import Progress
from realformer_nmt.comparison.running.slurm import queue, watch
from realformer_nmt.comparison.running.slurm.array_tasks import ArrayTask
from realformer_nmt.comparison.running.slurm.queue import QueuedTask, QueueError


class Hours:
    """A clock that `time.sleep` moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    clock = Hours()
    monkeypatch.setattr(watch.time, "sleep", clock.sleep)
    monkeypatch.setattr(watch.time, "monotonic", clock)
    return clock


def watched(folder: Path, shown: list[Progress]) -> watch.Watch:
    (folder / "runs/slurm").mkdir(parents=True)
    running = {cell: ArrayTask(job=7, index=0, digest="") for cell in only(folder)}
    return watch.Watch(folder / "runs/slurm", running, lambda _, progress: shown.append(progress), 180)


def test_the_queue_is_asked_seldom_and_its_silence_is_one_line(
    folder: Path, hours: Hours, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times: list[float] = []

    def silent(_: object) -> dict[str, QueuedTask]:
        times.append(hours())
        raise QueueError("squeue: Unable to contact slurm controller")

    monkeypatch.setattr(queue, "tasks", silent)
    watching = watched(folder, [])
    while hours() < 3600:
        assert watching.look()
        hours.sleep(2)
    assert len(times) < 30
    assert all(180 <= later - sooner <= 182 for sooner, later in itertools.pairwise(times[8:]))
    assert capsys.readouterr().err.count("\n") == 1
    (folder / "runs/slurm/7_0.ended").touch()
    assert not watching.look()


def test_a_job_is_lost_a_minute_after_the_queue_has_forgotten_it(
    folder: Path, hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"7_0": QueuedTask("RUNNING", "None")}
    monkeypatch.setattr(queue, "tasks", lambda _: answers if hours() < 1000 else {})
    shown: list[Progress] = []
    watched(folder, shown).wait()
    assert 1060 <= hours() < 1000 + 180 + 60 + 10
    assert shown[0].state == "waiting, job 7_0 running"
    assert shown[-1].state == "error"
    assert CellState(only(folder)[0]).evidence == "job 7_0 is not in the queue any more: (no output)"


@pytest.mark.parametrize(("state", "reason"), [("PENDING", "JobHoldMaxRequeue"), ("SPECIAL_EXIT", "")])
def test_how_to_release_a_held_job_is_said_once(
    state: str,
    reason: str,
    folder: Path,
    hours: Hours,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(queue, "tasks", lambda _: {"7_0": QueuedTask(state, reason)} if hours() < 3600 else {})
    watched(folder, []).wait()
    (line,) = capsys.readouterr().err.splitlines()
    assert "realformer-1-s1: SLURM holds job 7_0, " in line
    assert "`scontrol release 7_0` lets it run, `scancel 7_0` makes its cell an error" in line


@pytest.mark.usefixtures("hours")
def test_the_queues_own_word_for_an_end_is_the_evidence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "tasks", lambda _: {"7_0": QueuedTask("OUT_OF_MEMORY", "OutOfMemory")})
    watching = watched(folder, [])
    (folder / "runs/slurm/7_0.out").write_text("epoch 1\nslurmstepd: error: Detected 1 oom_kill event\n\n")
    watching.wait()
    evidence = CellState(only(folder)[0]).evidence
    assert evidence == "job 7_0 ended as OUT_OF_MEMORY: slurmstepd: error: Detected 1 oom_kill event"
