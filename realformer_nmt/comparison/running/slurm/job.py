"""Program of a job: one cell. Shortly before its time is over it goes back into the queue.

python -m realformer_nmt.comparison.running.slurm.job FOLDER/slurm/grid-N.toml GRID.toml --folder FOLDER --cell NAME ...
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import FrameType

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import HeldError
from realformer_nmt.common.user_dir import folder_in
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.comparison import Comparison
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_record import CellLog
from realformer_nmt.comparison.running.cell_run import run
from realformer_nmt.comparison.running.local import BETWEEN_LOOKS
from realformer_nmt.comparison.running.slurm import options as slurm_options
from realformer_nmt.comparison.running.slurm import queue
from realformer_nmt.comparison.running.slurm.array_tasks import ended
from realformer_nmt.comparison.running.slurm.queue import QueueError
from realformer_nmt.subcommands import import_user_dir, parser, register

PATIENCE = 300.0  # seconds until a lost node's lock is free: the lease of NFS is shorter
VAIN_STARTS = 3  # that save nothing, one after the other


class NearlyOverError(BaseException):
    """The job's time is nearly over, or the node is wanted for another job."""


def main(copy: Path, options: Sequence[str]) -> int:
    """Run a cell of a copy of the grid; the options are those that `compare` was called with, and --cell."""
    folder, job = copy.parent, f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
    import_user_dir("compare", folder_in(options))
    register("compare")
    request = CompareRequest.from_args(parser(["compare"]).parse_args(["compare", *options]))
    grid = grids.load(copy, request.grid).with_seeds(request.add_seeds)
    (cell,) = Comparison.of(request, grid).selected
    prefix = slurm_options.read(grid.slurm or {}).prefix
    with suppress(QueueError):  # an array has one name, until its tasks start
        queue.call("scontrol", "update", f"JobId={job}", f"JobName={prefix}{cell.name}")
    saved = saved_files(cell)
    try:
        signal.signal(signal.SIGUSR2, _nearly_over)
        run_to_end(cell)
    except NearlyOverError:
        vain = count_vain_start(folder / f"{job}.vain", saved_files(cell) != saved)
        if vain < VAIN_STARTS:
            return requeue(job, cell, folder / ended(job))
        evidence = f"job {job}: nothing was saved in {vain} starts, each as long as the time limit allows"
        CellLog(cell).lost(f"{evidence}; give time in [slurm] more minutes")
    (folder / ended(job)).touch()
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
    # train.json is written again and again while it trains
    files = [*cell.checkpoints.glob("*.pt"), *(stage.record for stage in cell.after_training)]
    return {file: file.stat().st_mtime_ns for file in files if file.exists()}


def count_vain_start(file: Path, has_saved: bool) -> int:
    """Return the number of starts in a row that saved nothing, and write it for the next start."""
    before = int(file.read_text(encoding="utf-8")) if file.exists() else 0
    starts = 0 if has_saved else before + 1
    file.write_text(str(starts), encoding="utf-8")
    return starts


def requeue(job: str, cell: Cell, end: Path) -> int:
    """Put this job back into the queue, which ends it."""
    try:
        queue.call("scontrol", "requeue", job)
    except QueueError as error:
        CellLog(cell).lost(f"job {job} cannot be queued again: {error}")
        end.touch()  # or the queue's word for this end would replace the reason
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
    except UserError as error:
        sys.exit(f"realformer-nmt: {error}")
