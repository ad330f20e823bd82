"""Launcher of a cluster: an array of jobs, one task per cell, with the options of the grid's [slurm]."""

import hashlib
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.processes.python_subprocess import program
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.cell_run import Progress
from realformer_nmt.comparison.running.local import ShowProgress
from realformer_nmt.comparison.running.slurm import array_tasks, queue
from realformer_nmt.comparison.running.slurm import options as slurm_options
from realformer_nmt.comparison.running.slurm.array_tasks import ArrayTask
from realformer_nmt.comparison.running.slurm.watch import Watch

PATIENCE = 120.0  # seconds that cancelled jobs have to end: SLURM kills them after 30
PAUSE = 2.0  # seconds between two looks at the queue
JOB = "realformer_nmt.comparison.running.slurm.job"


def launch(request: CompareRequest, grid: Grid, cells: Sequence[Cell], show: ShowProgress) -> None:
    """Attach to the jobs of an earlier command, submit the other cells, and wait for all.

    Ctrl-C cancels the jobs. After any other end of this process they go on, and the same command attaches to them.
    """
    options, folder = slurm_options.read(grid.slurm or {}), (request.folder / "slurm").resolve()
    remaining = unfinished(cells, show)
    running = attach(folder, remaining)
    message = "ended by SIGTERM; the jobs go on, and the same command attaches to them"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(message))
    try:
        running |= submit(folder, request, grid, [cell for cell in remaining if cell not in running])
        Watch(folder, running, show, options.poll).wait()
    except KeyboardInterrupt:
        cancel(running)
        raise


def unfinished(cells: Sequence[Cell], show: ShowProgress) -> list[Cell]:
    """Return the cells that need a job, and show the others."""
    states = [CellState(cell) for cell in cells]
    for state in states:
        if state.is_finished:
            show(state.cell, Progress(state.progress))
    return [state.cell for state in states if not state.is_finished]


def attach(folder: Path, cells: Sequence[Cell]) -> dict[Cell, ArrayTask]:
    """Return the tasks that run the cells or will; cancel those whose cells the grid has changed since."""
    running = array_tasks.alive(folder, cells)
    changed = {cell: task for cell, task in running.items() if task.digest != array_tasks.digest(cell)}
    for cell, task in changed.items():
        print(f"{cell.name}: job {task.id} was submitted with other settings and is cancelled", file=sys.stderr)
    cancel(changed)
    return {cell: task for cell, task in running.items() if cell not in changed}


def end_jobs(folder: Path, cells: Sequence[Cell]) -> None:
    """Cancel the jobs of cells, and wait until they have ended: each holds the lock of its cell."""
    folder, end = folder.resolve() / "slurm", time.monotonic() + PATIENCE
    running = array_tasks.alive(folder, cells)
    for cell, task in running.items():
        print(f"{cell.name}: job {task.id} is cancelled, as the cell is made again", file=sys.stderr)
    cancel(running)
    while array_tasks.alive(folder, cells) and time.monotonic() < end:
        time.sleep(PAUSE)


def cancel(running: Mapping[Cell, ArrayTask]) -> None:
    queue.cancel([task.id for task in running.values()])


def submit(folder: Path, request: CompareRequest, grid: Grid, cells: Sequence[Cell]) -> dict[Cell, ArrayTask]:
    """Submit the cells as an array, and return its tasks."""
    if not cells:
        return {}
    options, script = slurm_options.read(grid.slurm or {}), folder / "job.sh"
    command = program(JOB, str(copy_of(grid, folder)), *request.argv(), "--cell")
    names = [cell.name for cell in cells]
    with completed(script) as stream:
        stream.write(options.script(command, names).encode())
    sbatch = {
        **options.sbatch,
        "job-name": options.prefix + (names[0] if len(names) == 1 else folder.parent.name),
        "array": f"0-{len(names) - 1}%{min(len(names), options.at_once)}",
        "output": f"{str(folder).replace('%', '%%')}/%A_%a.out",
    }
    job = queue.submit(slurm_options.argv(sbatch), script)
    return array_tasks.record(folder, job, cells)


def copy_of(grid: Grid, folder: Path) -> Path:
    """Return a copy of the grid for the jobs to read, as the grid may change before they start."""
    copy = folder / f"grid-{hashlib.sha256(grid.written.encode()).hexdigest()[:12]}.toml"
    with completed(copy) as stream:
        stream.write(grid.written.encode())
    return copy
