"""Program of a job: one cell, by its index in the array. Shortly before its time is over it goes back into the queue.

python -m realformer_nmt.comparison.running.slurm.job FOLDER/slurm/N/cells.json PREFIX
"""

import os
import signal
import sys
import time
from contextlib import closing
from pathlib import Path
from types import FrameType

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import HeldError
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.records.cell_log import CellLog
from realformer_nmt.comparison.running.cell_run import run
from realformer_nmt.comparison.running.local import BETWEEN_LOOKS
from realformer_nmt.comparison.running.slurm import queue, written_cells
from realformer_nmt.comparison.running.slurm.queue import QueueError

PATIENCE = 300.0  # seconds until a lost node's lock is free: the lease of NFS is shorter
VAIN_STARTS = 3  # that save nothing, one after the other


class NearlyOverError(BaseException):
    """The job's time is nearly over, or the node is wanted for another job."""


def main(file: Path, prefix: str) -> int:
    index = int(os.environ["SLURM_ARRAY_TASK_ID"])
    cell = written_cells.read(file, index)
    job = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{index}"
    scontrol("update", f"JobId={job}", f"JobName={prefix}{cell.name}")  # an array has one name, until its tasks start
    vain = file.parent / f"{index}.vain"
    saved = saved_files(cell)
    try:
        signal.signal(signal.SIGUSR2, _nearly_over)
        run_to_end(cell)
    except NearlyOverError:
        starts = 0 if saved_files(cell) != saved else vain_starts(vain) + 1
        vain.write_text(str(starts), encoding="utf-8")
        if starts < VAIN_STARTS:
            return requeue(job, cell)
        evidence = f"job {job}: nothing was saved in {starts} starts, each as long as the time limit allows"
        CellLog(CellFiles(cell)).lost(f"{evidence}; give time in [slurm] more minutes")
    except UserError as error:
        print(f"realformer-nmt: {error}", file=sys.stderr)
        return 1
    (file.parent / f"{index}.ended").touch()
    return 0


def _nearly_over(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    raise NearlyOverError


def run_to_end(cell: Cell) -> None:
    """Run a cell once its lock is free, which the job before may still hold: its node was lost, or it is ending."""
    end = time.monotonic() + PATIENCE
    while True:
        with closing(run(cell, {})) as progress:
            try:
                for _ in progress:
                    time.sleep(BETWEEN_LOOKS)
                return
            except HeldError:
                if time.monotonic() > end:
                    raise
        time.sleep(1)


def saved_files(cell: Cell) -> dict[Path, int]:
    """Return checkpoints and records with the times they were written at: what a next start need not repeat."""
    later = cell.stages[1:]  # train.json is written again and again while it trains
    files = [*cell.checkpoints.glob("*.pt"), *(stage.record for stage in later)]
    return {file: file.stat().st_mtime_ns for file in files if file.exists()}


def vain_starts(file: Path) -> int:
    return int(file.read_text(encoding="utf-8")) if file.exists() else 0


def requeue(job: str, cell: Cell) -> int:
    """Put this job back into the queue, which ends it."""
    message = scontrol("requeue", job)
    if message:
        CellLog(CellFiles(cell)).lost(f"job {job} cannot be queued again: {message}")
    return 1 if message else 0


def scontrol(*words: str) -> str:
    """Return what scontrol says against it, which is nothing if it did as asked."""
    try:
        queue.call("scontrol", *words)
    except QueueError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
