"""Launcher of a cluster: an array of jobs, one task per cell, with the options of the grid's [slurm]."""

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.processes.python_subprocess import program
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.cell_run import Progress
from realformer_nmt.comparison.running.local import ShowProgress
from realformer_nmt.comparison.running.slurm import options as slurm_options
from realformer_nmt.comparison.running.slurm import queue
from realformer_nmt.comparison.running.slurm.options import SlurmOptions
from realformer_nmt.comparison.running.slurm.submissions import SCRIPT, ArrayTask, Memory, digest, indices
from realformer_nmt.comparison.running.slurm.watch import Watch


class TerminatedError(BaseException):
    """This process was asked to end, as a login node asks its processes when it is shut down."""


PATIENCE = 120.0  # seconds that cancelled jobs have to end: SLURM kills them after 30
PAUSE = 2.0  # seconds between two looks at the queue
JOB = "realformer_nmt.comparison.running.slurm.job"


def launch(request: CompareRequest, grid: Grid, cells: Sequence[Cell], show: ShowProgress) -> None:
    """Attach to the jobs of an earlier command, submit the other cells, and wait for all.

    Ctrl-C cancels the jobs. After any other end of this process they go on, and the same command attaches to them.
    """
    options = slurm_options.read(grid.slurm or {})
    memory = Memory(request.folder / "slurm")
    tasks = attach(memory, cells)
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        remaining = unfinished([cell for cell in cells if cell not in tasks], show)
        tasks |= submit(memory, request, grid, remaining)
        Watch(tasks, show, options.poll).wait()
    except KeyboardInterrupt:
        queue.cancel(indices(tasks.values()))
        raise
    except TerminatedError as error:
        raise UserError("ended by SIGTERM; the jobs go on, and the same command attaches to them") from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise TerminatedError


def attach(memory: Memory, cells: Sequence[Cell]) -> dict[Cell, ArrayTask]:
    """Return the tasks that run the cells or will; cancel those whose cells the grid has changed since."""
    alive = memory.alive()
    tasks = {cell: alive[cell.name] for cell in cells if cell.name in alive}
    changed = {cell: task for cell, task in tasks.items() if task.digest != digest(cell)}
    for cell, task in changed.items():
        print(f"{cell.name}: job {task.id} was submitted with other settings and is cancelled", file=sys.stderr)
    queue.cancel(indices(changed.values()))
    return {cell: task for cell, task in tasks.items() if cell not in changed}


def end_jobs(folder: Path, cells: Sequence[Cell]) -> None:
    """Cancel the jobs of cells, and wait until they have ended: each holds the lock of its cell."""
    memory, end = Memory(folder / "slurm"), time.monotonic() + PATIENCE
    tasks = memory.tasks_of(cells)
    for name, task in tasks.items():
        print(f"{name}: job {task.id} is cancelled, as the cell is made again", file=sys.stderr)
    queue.cancel(indices(tasks.values()))
    while memory.tasks_of(cells) and time.monotonic() < end:
        time.sleep(PAUSE)


def unfinished(cells: Sequence[Cell], show: ShowProgress) -> list[Cell]:
    """Return the cells that need a job, and show the others."""
    remaining = []
    for cell in cells:
        state = CellState(cell)
        if state.is_finished:
            show(cell, Progress(state.progress))
        else:
            remaining.append(cell)
    return remaining


def submit(memory: Memory, request: CompareRequest, grid: Grid, cells: Sequence[Cell]) -> dict[Cell, ArrayTask]:
    """Submit arrays as large as SLURM allows, and return their tasks; each array waits for the one before it."""
    options, tasks = slurm_options.read(grid.slurm or {}), dict[Cell, ArrayTask]()
    size = queue.largest_array() if cells else 1
    previous: int | None = None
    for first in range(0, len(cells), size):
        part, folder = cells[first : first + size], memory.next_folder()
        script = options.script(program(JOB, str(folder), *request.argv()))
        submission = memory.begin(folder, part, grid.written, script)
        name = options.prefix + (part[0].name if len(part) == 1 else memory.folder.parent.name)
        words = slurm_options.argv(array_options(options, folder, len(part), name, previous))
        previous = queue.submit(words, folder / SCRIPT)
        by_name = memory.submitted(submission, previous)
        tasks |= {cell: by_name[cell.name] for cell in part}
    return tasks


def array_options(
    options: SlurmOptions, folder: Path, tasks: int, name: str, previous: int | None
) -> dict[str, str | int | float | bool]:
    """Return the options of sbatch for an array; `previous` is the array that has the slots before it."""
    sbatch = {
        **options.sbatch,
        "job-name": name,
        "array": f"0-{tasks - 1}%{min(tasks, options.at_once)}",
        "output": f"{str(folder).replace('%', '%%')}/%a.out",
    }
    if previous is not None:
        before = [str(sbatch["dependency"])] if "dependency" in sbatch else []
        sbatch["dependency"] = ",".join([*before, f"afterany:{previous}"])
    return sbatch
