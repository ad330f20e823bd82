"""Cells as jobs of a stand-in of SLURM's commands, without accounting; reliability/cluster.py has the real ones."""

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cluster
import comparisons
import pytest
from grid_cells import cells_of

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.running.cell_run import Progress
from realformer_nmt.comparison.running.slurm import job, launcher, options, queue, submissions, watch, written_cells
from realformer_nmt.comparison.running.slurm.queue import QueuedTask, QueueError
from realformer_nmt.comparison.running.slurm.submissions import ArrayTask, Memory

MORE = """
[slurm]
slurm_partition = "deep"
timeout_min = 30
slurm_poll_s = 2
"""
Program = Iterator[Callable[[], "subprocess.Popen[str]"]]


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


@pytest.fixture
def compare(folder: Path) -> Program:
    """The command as a process; its jobs end with the test."""
    words = (folder / "grid.toml", "--folder", folder / "runs", "--launcher", "slurm")
    environment = cluster.install(folder)
    yield lambda: comparisons.start(*words, **environment)
    for process in processes(folder):
        subprocess.run(["/bin/kill", "-KILL", "--", f"-{process}"], check=False, capture_output=True)


def only(folder: Path) -> list[Cell]:
    grid = load(folder / "grid.toml")
    return cells_of(grid, folder / "runs")


def processes(folder: Path) -> list[int]:
    return [int(file.read_text().split()[0]) for file in folder.glob("*.task")]


def wait_for_running(folder: Path, process: "subprocess.Popen[str]") -> None:
    while not processes(folder) or CellFiles(only(folder)[0]).state != "running":
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def test_a_cell_is_read_by_its_job_as_it_was_written(folder: Path, tmp_path: Path) -> None:
    written_cells.write(tmp_path / "cells.json", only(folder))
    assert [written_cells.read(tmp_path / "cells.json", 0)] == only(folder)


def test_the_grids_settings_reach_sbatch_and_the_result_comes_back(
    folder: Path, compare: Callable[[], "subprocess.Popen[str]"]
) -> None:
    process = compare()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    (submitted,) = folder.glob("submitted-*")
    words = submitted.read_text().split()
    assert {"--partition=deep", "--time=30", "--requeue", "--array=0-0%1", "--job-name=realformer-1-s1"} <= {*words}
    assert "JobName=realformer-1-s1" in (folder / "controlled").read_text()
    assert [cell["state"] for cell in comparisons.results(folder / "runs")["cells"]] == ["stuck"]


def test_an_interruption_cancels_the_jobs(folder: Path, compare: Callable[[], "subprocess.Popen[str]"]) -> None:
    process = compare()
    wait_for_running(folder, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "the same command goes on" in err
    (job,) = folder.glob("*.task")
    assert (folder / "cancelled").read_text().split() == [job.stem.replace("_0", "_[0]")]


def test_a_job_that_dies_outside_python_is_lost(folder: Path, compare: Callable[[], "subprocess.Popen[str]"]) -> None:
    process = compare()
    wait_for_running(folder, process)
    os.killpg(processes(folder)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "realformer-1-s1: see `--status`" in err
    record = CellFiles(only(folder)[0])
    assert record.state == "error"
    assert "is not in the queue any more" in (record.evidence or "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_same_command_attaches_to_the_jobs_of_one_that_ended(
    folder: Path, number: int, compare: Callable[[], "subprocess.Popen[str]"]
) -> None:
    first = compare()
    wait_for_running(folder, first)
    first.send_signal(number)
    _, err = first.communicate(timeout=60)
    assert "the jobs go on" in err or number == signal.SIGKILL
    assert not (folder / "cancelled").exists()
    second = compare()
    _, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    assert len(list(folder.glob("submitted-*"))) == 1
    assert len(CellFiles(only(folder)[0]).record.sessions) == 1


def test_settings_that_are_unknown_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = folder / "grid.toml"
    grid.write_text(grid.read_text() + "colour = 'red'\n")
    for name, value in cluster.install(folder).items():
        monkeypatch.setenv(name, value)
    words = ["compare", str(grid), "--folder", str(folder / "runs"), "--launcher", "slurm", "--gpus", "0"]
    assert main(words) == 1
    assert "[slurm] colour is not one of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"timeout_min": 5, "slurm_time": 9}, ["--time=9"]),
        ({"mem_gb": 8}, ["--mem=8GB"]),
        ({"mem_gb": 0.5}, ["--mem=512MB"]),
        ({"tasks_per_node": 1, "slurm_exclusive": True}, ["--ntasks-per-node=1", "--exclusive"]),
        ({"slurm_num_gpus": 2}, ["--gpus-per-node=2"]),
        ({"slurm_additional_parameters": {"mail-user": "a b", "requeue": False}}, ["--mail-user=a b"]),
    ],
)
def test_submitits_names_stand_for_the_same_options(given: dict[str, object], words: list[str]) -> None:
    argv = options.argv(options.read(given).sbatch)
    assert set(words) <= set(argv)
    assert ("--requeue" in argv) == ("slurm_additional_parameters" not in given)


@pytest.mark.parametrize(
    "given", [{"slurm_setup": "module load"}, {"slurm_array_parallelism": 0}, {"mem_gb": "8"}, {"slurm_poll_s": -1}]
)
def test_values_of_another_kind_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(UserError, match=r"\[slurm\] .*: allowed is"):
        options.read(given)


def test_the_script_starts_the_cell_by_srun_where_srun_has_arguments() -> None:
    srun = options.read({"slurm_srun_args": ["--container-image", "x"], "slurm_setup": ["module load cuda"]})
    script = srun.script(["python", "-m", "a b"]).splitlines()
    assert script[-2:] == ["module load cuda", "exec srun --unbuffered --container-image x python -m 'a b'"]
    after = options.read({"slurm_teardown": ["echo over"]}).script(["true"])
    done = subprocess.run(["/bin/bash", "-c", after], capture_output=True, text=True, check=False)
    assert done.stdout == "over\n"


def test_arrays_are_as_large_as_slurm_allows_and_wait_for_each_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted: list[list[str]] = []
    monkeypatch.setattr(queue, "largest_array", lambda: 2)
    monkeypatch.setattr(queue, "submit", lambda words, _: submitted.append([*words]) or len(submitted))
    grid = load(folder / "grid.toml").with_seeds(4)
    many = cells_of(grid, folder / "runs")
    tasks: dict[Cell, ArrayTask] = {}
    launcher.submit(Memory(folder / "runs/slurm"), options.read({"slurm_array_parallelism": 1}), many, tasks)
    assert [task.id for task in tasks.values()] == ["1_0", "1_1", "2_0", "2_1", "3_0"]
    assert [word for words in submitted for word in words if word.startswith("--array")] == [
        "--array=0-1%1",
        "--array=0-1%1",
        "--array=0-0%1",
    ]
    assert [word for words in submitted for word in words if word.startswith("--dependency")] == [
        "--dependency=afterany:1",
        "--dependency=afterany:2",
    ]


def test_a_kill_between_sbatch_and_its_record_loses_no_job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(folder / "runs/slurm")
    submission = memory.begin(memory.next_folder(), only(folder), "true")
    script = memory.folder / "1" / submissions.SCRIPT
    listed = QueuedTask(7, 0, "PENDING", "Resources", str(script))
    monkeypatch.setattr(queue, "_listed", lambda which: [listed] if which.startswith(("--user", "--jobs=7")) else [])
    assert submission.job is None
    assert Memory(folder / "runs/slurm").alive()["realformer-1-s1"].id == "7_0"


def test_a_job_of_somebody_elses_script_is_not_taken_for_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(folder / "runs/slurm")
    memory.submitted(memory.begin(memory.next_folder(), only(folder), "true"), 7)
    monkeypatch.setattr(queue, "_listed", lambda _: [QueuedTask(7, 0, "RUNNING", "None", "/another/job.sh")])
    assert Memory(folder / "runs/slurm").alive() == {}


def test_a_job_with_other_settings_is_cancelled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(folder / "runs/slurm")
    memory.submitted(memory.begin(memory.next_folder(), only(folder), "true"), 7)
    script = str(memory.folder / "1" / submissions.SCRIPT)
    cancelled: list[dict[int, list[int]]] = []
    monkeypatch.setattr(queue, "_listed", lambda _: [QueuedTask(7, 0, "PENDING", "None", script)])
    monkeypatch.setattr(queue, "cancel", lambda indices: cancelled.append(indices))
    assert [task.id for task in launcher.attach(memory, only(folder)).values()] == ["7_0"]
    grid = folder / "grid.toml"
    grid.write_text(grid.read_text().replace("updates = 200", "updates = 100"))
    assert launcher.attach(memory, only(folder)) == {}
    assert cancelled == [{}, {7: [0]}]
    assert "was submitted with other settings" in capsys.readouterr().err


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
    return clock


def watched(folder: Path, clock: Hours, shown: list[Progress]) -> watch.Watch:
    (folder / "runs/slurm/1").mkdir(parents=True)
    tasks = {cell: ArrayTask(7, 0, folder / "runs/slurm/1", "") for cell in only(folder)}
    return watch.Watch(tasks, lambda _, progress: shown.append(progress), 180, clock)


def test_the_queue_is_asked_seldom_and_its_silence_is_one_line(
    folder: Path, hours: Hours, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[float] = []

    def silent(_: object) -> list[QueuedTask]:
        asked.append(hours())
        raise QueueError("squeue: Unable to contact slurm controller")

    monkeypatch.setattr(queue, "tasks", silent)
    watching = watched(folder, hours, [])
    while hours() < 3600:
        assert watching.look()
        hours.sleep(2)
    assert len(asked) < 30
    assert all(180 <= later - sooner <= 182 for sooner, later in itertools.pairwise(asked[8:]))
    assert capsys.readouterr().err.count("\n") == 1
    (folder / "runs/slurm/1/0.ended").touch()
    assert not watching.look()


def test_a_job_is_lost_a_minute_after_the_queue_has_forgotten_it(
    folder: Path, hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [QueuedTask(7, 0, "RUNNING", "None", "job.sh")]
    monkeypatch.setattr(queue, "tasks", lambda _: list(answers) if hours() < 1000 else [])
    shown: list[Progress] = []
    watched(folder, hours, shown).wait()
    assert 1060 <= hours() < 1000 + 180 + 60 + 10
    assert shown[0].state == "waiting, job 7_0 running"
    assert shown[-1].state == "error"
    assert CellFiles(only(folder)[0]).evidence == "job 7_0 is not in the queue any more: (no output)"


def test_the_queues_own_word_for_an_end_is_the_evidence(
    folder: Path, hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "tasks", lambda _: [QueuedTask(7, 0, "OUT_OF_MEMORY", "OutOfMemory", "job.sh")])
    watching = watched(folder, hours, [])
    (folder / "runs/slurm/1/0.out").write_text("epoch 1\nslurmstepd: error: Detected 1 oom_kill event\n\n")
    watching.wait()
    evidence = CellFiles(only(folder)[0]).evidence
    assert evidence == "job 7_0 ended as OUT_OF_MEMORY: slurmstepd: error: Detected 1 oom_kill event"


@pytest.fixture
def nearly_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """What a job calls of SLURM whose time is over as soon as its cell runs."""
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


def test_a_job_that_cannot_be_queued_again_is_an_error(
    folder: Path, nearly_over: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*words: str) -> str:
        raise QueueError(f"{words[0]}: Requested operation is presently disabled")

    monkeypatch.setattr(queue, "call", refused)
    assert job.main(folder / written_cells.FILE, "") == 1
    assert nearly_over == []
    assert "cannot be queued again: scontrol: Requested" in (CellFiles(only(folder)[0]).evidence or "")
