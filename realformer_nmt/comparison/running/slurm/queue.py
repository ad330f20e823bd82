"""SLURM's commands: sbatch, squeue, scancel and scontrol. None of them needs its accounting."""

import os
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from realformer_nmt.common.errors import UserError

PATIENCE = 120.0  # seconds that squeue has
FORMAT = "%F|%K|%T|%r|%o"  # array's job, index, state, reason, script
PURGED = "Invalid job id specified"  # of squeue, where it has forgotten every job that it is asked about
LARGEST_ARRAY = 1001  # tasks; SLURM's own default of MaxArraySize
ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"),
    *("REVOKED", "TIMEOUT"),
}
HELD = {  # states, and reasons of PENDING: SLURM waits for a person
    *("REQUEUE_HOLD", "SPECIAL_EXIT", "JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "DependencyNeverSatisfied"),
    "launch_failed_requeued_held",
}


class QueueError(UserError):
    """A command of SLURM that failed or is not there."""


@dataclass(frozen=True)
class QueuedTask:
    """Task of an array as squeue lists it, for some minutes after its end too."""

    job: int
    index: int
    state: str
    reason: str
    script: str

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def held(self) -> bool:
        return not HELD.isdisjoint((self.state, self.reason))

    def __str__(self) -> str:
        """Return `pending (Resources)`."""
        reason = f" ({self.reason})" if self.state == "PENDING" and self.reason not in ("", "None") else ""
        return self.state.lower().replace("_", " ") + reason


def call(*words: str, timeout: float | None = None) -> str:
    """Return the output of a command of SLURM; the user's defaults for squeue, such as a partition, do not hold."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SQUEUE_")}
    try:
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except FileNotFoundError as error:
        raise QueueError(
            f"{words[0]} is not on PATH: run --launcher slurm on a machine that can submit jobs to SLURM"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise QueueError(f"{words[0]} has not answered for {timeout:.0f} s") from error
    if done.returncode:
        raise QueueError(f"{words[0]}: {' '.join(done.stderr.split()) or f'status {done.returncode}'}")
    return done.stdout


def submit(options: Sequence[str], script: Path) -> int:
    """Submit an array and return the number of its job."""
    answer = call("sbatch", "--parsable", *options, str(script))
    number = re.match(r"\d+", answer.strip().splitlines()[-1] if answer.strip() else "")
    if number is None:
        raise QueueError(f"sbatch answered {answer!r}, which is not the number of a job")
    return int(number[0])


def tasks(jobs: Collection[int]) -> list[QueuedTask]:
    """Return the tasks of arrays that the queue knows, those that have just ended too."""
    named = ",".join(str(job) for job in sorted(jobs))
    return _listed(f"--jobs={named}") if jobs else []


def job_of(script: Path) -> int | None:
    """Return the array that a script was submitted as, if the queue still knows it."""
    mine = _listed(f"--user={os.getuid()}")
    return next((task.job for task in mine if task.script == str(script)), None)


def _listed(which: str) -> list[QueuedTask]:
    words = ("squeue", "--noheader", "--array", "--states=all", f"--format={FORMAT}", which)
    try:
        lines = call(*words, timeout=PATIENCE).splitlines()
    except QueueError as error:
        if PURGED in str(error):
            return []
        raise
    rows = [line.split("|", 4) for line in lines]
    return [
        QueuedTask(int(row[0]), int(row[1]), *row[2:])
        for row in rows
        if len(row) == len(FORMAT.split("|")) and row[0].isdigit() and row[1].isdigit()
    ]


def cancel(indices: Mapping[int, Collection[int]]) -> None:
    """Cancel tasks of arrays, in one call."""
    words = [f"{job}_[{','.join(str(index) for index in sorted(each))}]" for job, each in indices.items() if each]
    if words:
        call("scancel", *words)


def largest_array() -> int:
    """Return how many tasks an array may have here."""
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", call("scontrol", "show", "config"), re.M)
    return max(1, int(match[1])) if match else LARGEST_ARRAY
