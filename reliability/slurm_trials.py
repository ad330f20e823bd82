"""Comparisons on a real SLURM: what ends a job there, and what comes of its cell.

python -m reliability --only slurm, or `make slurm`
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from realformer_nmt.common.files import records
from realformer_nmt.comparison.records.cell_record import CellRecord
from reliability import cluster, disks, slurm_recipe
from reliability.cluster import Cluster, wait_until
from reliability.trainings import LIMIT, check, kill, start

GRID = """
families = ["post_ln"]
layers = ["1"]
seeds = [{seeds}]
protocol = "small"

[data]
folder = "{data}"
subwords = "none"
reference = "{data}/../test.tgt"

[train]
encoder-embed-dim = 32
decoder-embed-dim = 32
encoder-ffn-embed-dim = 64
decoder-ffn-embed-dim = 64
warmup-updates = 20
lr = 1e-2
num-workers = 0

[budget]
updates = {updates}
tokens-a-step = 512
max-tokens = 512
average = 1

[slurm]
cpus-per-task = 1
poll = 2
{slurm}
"""
PATIENCE = 3 * LIMIT  # a comparison imports fairseq in several processes, one after the other
Figures = dict[str, object]


class Comparison:
    """A comparison of one architecture by several seeds, each a job."""

    def __init__(self, world: Cluster, data: Path, folder: Path, seeds: int = 1, updates: int = 200, slurm: str = ""):
        self.cluster, self.folder, self.log = world, folder, folder / "log"
        self.cells = [folder / "runs/cells" / f"post_ln-1-s{seed}" for seed in range(1, seeds + 1)]
        folder.mkdir(parents=True, exist_ok=True)
        named = ", ".join(str(seed) for seed in range(1, seeds + 1))
        (folder / "grid.toml").write_text(GRID.format(data=data, seeds=named, updates=updates, slurm=slurm))

    def start(self) -> "subprocess.Popen[bytes]":
        words = ["compare", str(self.folder / "grid.toml"), "--folder", str(self.folder / "runs")]
        return start(
            [sys.executable, "-m", "realformer_nmt.cli", *words, "--launcher", "slurm", "--gpus", "0"], self.log
        )

    def start_and_train(self) -> "subprocess.Popen[bytes]":
        """Start the comparison, and wait until every cell has a checkpoint."""
        process = self.start()
        wait_until(
            lambda: all([*cell.glob("checkpoints/*.pt")] for cell in self.cells), f"no checkpoint: {self.log}", PATIENCE
        )
        return process

    def finish(self, process: "subprocess.Popen[bytes]", status: int = 0) -> None:
        try:
            returncode = process.wait(PATIENCE)
        finally:
            kill(process)
        check(returncode == status, f"status {returncode}, not {status}: {self.log.read_text()[-3000:]}")

    def record(self, cell: Path) -> CellRecord:
        return records.read(cell / "cell.json", CellRecord, "")

    def check_done(self, sessions: int | None = None) -> None:
        for cell in self.cells:
            record = self.record(cell)
            check(record.state == "done", f"{cell.name}: {record}")
            check(sessions in (None, len(record.sessions)), f"{cell.name} was started {len(record.sessions)} times")

    def evidence(self) -> str:
        """Return the evidence of the only error."""
        cell_records = [self.record(cell) for cell in self.cells]
        errors = [record.evidence or "" for record in cell_records if record.state == "error"]
        check(len(errors) == 1, str(cell_records))
        return errors[0]

    def queue(self, form: str) -> list[str]:
        return self.cluster.call("squeue", "--noheader", "--array", f"--format={form}").split()

    def running(self) -> list[str]:
        """Return the names of the jobs that run."""
        return [line.partition(",")[2] for line in self.queue("%T,%j") if line.startswith("RUNNING")]

    def submissions(self) -> int:
        """Return the number of arrays whose first task has begun."""
        return len([*(self.folder / "runs/slurm").glob("*_0.out")])


def killed_compare(world: Cluster, data: Path, folder: Path) -> Figures:
    """Four cells, two at the same time; the login node goes away, and the same command waits for their jobs."""
    trial = Comparison(world, data, folder, seeds=4, slurm="at-once = 2")
    process = trial.start()
    wait_until(lambda: len(trial.running()) == 2, f"no two jobs: {trial.log}", PATIENCE)
    kill(process)
    process = trial.start()
    most, names = 0, set[str]()
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        running = trial.running()
        most, names = max(most, len(running)), names | {*running}
        time.sleep(0.5)
    trial.finish(process)
    trial.check_done(sessions=1)
    check(most == 2, f"{most} cells ran at the same time")
    check({cell.name for cell in trial.cells} <= names, f"the jobs were called {names}")
    check(trial.submissions() == 1, f"{trial.submissions()} submissions")
    outcome = "the jobs go on, the same command attaches; done"
    return {"outcome": outcome, "cells": 4, "submissions": 1, "at the same time": most}


def cancelled(world: Cluster, data: Path, folder: Path) -> Figures:
    """Cancel one job of two by hand."""
    trial = Comparison(world, data, folder, seeds=2)
    process = trial.start_and_train()
    world.call("scancel", "--name=post_ln-1-s1")
    seconds = wait_until(lambda: trial.record(trial.cells[0]).state == "error", "it is not lost")
    trial.finish(process, status=1)
    evidence = trial.evidence()
    trial.finish(trial.start())
    trial.check_done()
    return {"outcome": "error, then done by the same command", "seconds to the error": seconds, "evidence": evidence}


def out_of_time(world: Cluster, data: Path, folder: Path) -> Figures:
    """The limit is lowered under a training of over a minute: SLURM looks at limits, and signals, every 30 seconds."""
    trial = Comparison(world, data, folder, updates=3000, slurm='time = 30\nsignal = "B:USR2@600"')
    process = trial.start_and_train()
    (job,) = trial.queue("%F_%K")
    world.call("scontrol", "update", f"JobId={job}", "TimeLimit=9")
    seconds = wait_until(lambda: trial.queue("%T") == ["PENDING"], "the job was not queued again")
    world.call("scontrol", "update", f"JobId={job}", "TimeLimit=30")
    return {**finish_again(trial, process), "seconds until it was queued again": seconds}


def preempted(world: Cluster, data: Path, folder: Path) -> Figures:
    trial = Comparison(world, data, folder)
    process = trial.start_and_train()
    world.call("sbatch", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=sleep 5")
    return finish_again(trial, process)


def node_lost(world: Cluster, data: Path, folder: Path) -> Figures:
    trial = Comparison(world, data, folder)
    process = trial.start_and_train()
    world.lose_node()
    seconds = wait_until(lambda: trial.queue("%T") == ["PENDING"], "the job was not queued again")
    world.start_node()
    return {**finish_again(trial, process), "seconds until SLURM saw it": seconds}


def finish_again(trial: Comparison, process: "subprocess.Popen[bytes]") -> Figures:
    """It is done after more starts than one, of one submission."""
    trial.finish(process)
    trial.check_done()
    starts = len(trial.record(trial.cells[0]).sessions)
    check(starts > 1 and trial.submissions() == 1, f"{starts} starts of {trial.submissions()} submissions")
    return {"outcome": "queued again; done", "starts": starts}


def out_of_memory(world: Cluster, data: Path, folder: Path) -> Figures:
    trial = Comparison(world, data, folder, slurm='mem = "204M"')
    trial.finish(trial.start(), status=1)
    evidence = trial.evidence()
    trial = Comparison(world, data, folder, slurm='mem = "4G"')
    trial.finish(trial.start())
    trial.check_done()
    return {"outcome": "error; with more memory, done by the same command", "evidence": evidence}


def full_disk(world: Cluster, data: Path, folder: Path) -> Figures:
    """Fill the disk that all machines share while a cell trains."""
    with disks.disk(folder, "size=30m"):
        trial = Comparison(world, data, folder / "shared")
        process = trial.start_and_train()
        disks.fill(folder)
        try:
            status = process.wait(PATIENCE)
        finally:
            kill(process)
        log_tail = trial.log.read_text()[-3000:]
        (folder / "others").unlink()
        check(status == 1, f"status {status}: {log_tail}")
        trial.finish(trial.start())
        trial.check_done()
    return {"outcome": "an error; with room again, done by the same command"}


TRIALS: dict[str, Callable[[Cluster, Path, Path], Figures]] = {
    "login node lost": killed_compare,
    "cancelled by hand": cancelled,
    "time limit": out_of_time,
    "preempted": preempted,
    "node lost": node_lost,
    "out of memory": out_of_memory,
    "full shared disk": full_disk,
    "slurm.sbatch, two tasks on one node": slurm_recipe.train_in_two_tasks,
}


def survive(data: Path, folder: Path) -> Figures:
    missing = cluster.missing()
    check(not missing, missing)
    figures: Figures = {}
    with cluster.started(folder / "cluster") as world:
        for number, (name, trial) in enumerate(TRIALS.items()):
            figures[name] = trial(world, data, folder / f"trial{number}")
            print(f"slurm, {name}: {json.dumps(figures[name])}", flush=True)
    return figures
