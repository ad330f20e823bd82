"""SLURM's commands: sbatch, squeue, scancel and scontrol. None of them needs its accounting."""

import os
import re
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from realformer_nmt.common.errors import UserError

PATIENCE = 120.0  # seconds that squeue has
FORMAT = "%F_%K|%T|%r"  # array's job and index, state, reason
PURGED = "Invalid job id specified"  # of squeue, where it has forgotten every job that it is asked about
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

    state: str
    reason: str

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


def tasks(jobs: Collection[int]) -> dict[str, QueuedTask]:
    """Return the tasks of arrays that the queue knows, those that have just ended too, by ids such as 7_0."""
    if not jobs:
        return {}
    words = ("squeue", "--noheader", "--array", "--states=all", f"--format={FORMAT}")
    try:
        lines = call(*words, f"--jobs={','.join(map(str, sorted(jobs)))}", timeout=PATIENCE).splitlines()
    except QueueError as error:
        if PURGED in str(error):
            return {}
        raise
    rows = [line.split("|", 2) for line in lines]
    return {task_id: QueuedTask(state, reason) for task_id, state, reason in rows}


def cancel(ids: Collection[str]) -> None:
    """Cancel tasks of arrays, such as 7_0, in one call."""
    if ids:
        call("scancel", *ids)
