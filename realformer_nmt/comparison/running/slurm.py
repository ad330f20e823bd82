"""Launcher of a cluster: one job per cell through submitit, with the settings of the grid's [slurm]."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import submitit

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_log import CellLog
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.comparison.running.cell_run import Progress, run
from realformer_nmt.comparison.running.local import BETWEEN_LOOKS, ShowProgress

BETWEEN_FILES = 2.0  # seconds between two readings of a shared disk; submitit limits how often it asks the queue


class Job:
    """Job that is pickled for a node; preempted or out of time, it is queued again and goes on where it was."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell

    def __call__(self) -> str:
        state = "waiting"
        for progress in run(self.cell, {}):
            state = progress.state
            time.sleep(BETWEEN_LOOKS)
        return state

    def checkpoint(self) -> Any:
        return submitit.helpers.DelayedSubmission(self)


def launch(
    cells: Sequence[Cell], folder: Path, settings: Mapping[str, Any], show: ShowProgress, cluster: str = "slurm"
) -> None:
    """Submit a job per cell and wait for all; an exception, such as Ctrl-C, cancels them."""
    try:
        executor = submitit.AutoExecutor(folder=folder / "slurm", cluster=cluster)
        executor.update_parameters(**settings)
    except (RuntimeError, TypeError, NameError) as error:
        raise UserError(f"submitit does not accept [slurm] {dict(settings)}: {error}") from error
    jobs = {cell: executor.submit(Job(cell)) for cell in cells}
    try:
        while not all(job.done() for job in jobs.values()):
            for cell, job in jobs.items():
                show(cell, Progress(f"{CellRecord(cell).state}, job {job.job_id} {job.state.lower()}"))
            time.sleep(BETWEEN_FILES if cluster == "slurm" else BETWEEN_LOOKS)
    except BaseException:
        for job in jobs.values():
            job.cancel()
        raise
    for cell, job in jobs.items():
        fault = job.exception()
        if fault:
            CellLog(CellRecord(cell)).lost(f"job {job.job_id}: {str(fault).strip().splitlines()[-1]}")
        show(cell, Progress(CellRecord(cell).state))
