"""Tasks of a comparison's job arrays, in FOLDER/slurm: one per cell, which a later command finds there again."""

import hashlib
import json
import os
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from msgspec import Struct

from realformer_nmt.common.files import records
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.running.slurm import queue

HINT = "end the job of this cell by scancel, and remove the file"


class ArrayTask(Struct, frozen=True, kw_only=True):
    """Task of an array, which runs one cell: the content of FOLDER/slurm/CELL.json."""

    job: int  # of the array
    index: int
    digest: str  # of what the cell was to be trained and scored with

    @property
    def id(self) -> str:
        return f"{self.job}_{self.index}"


def ended(task_id: str) -> str:
    """Return the name of the file that a task leaves when its cell has ended, however."""
    return f"{task_id}.ended"


def names(folder: Path) -> Collection[str]:
    """Return the names in a folder, or nothing if the shared disk does not answer just now."""
    try:
        return {entry.name for entry in os.scandir(folder)}
    except OSError:
        return ()


def alive(folder: Path, cells: Sequence[Cell]) -> dict[Cell, ArrayTask]:
    """Return the tasks of cells that are queued or run."""
    files = {cell: folder / f"{cell.name}.json" for cell in cells}
    tasks = {cell: records.read(file, ArrayTask, HINT) for cell, file in files.items() if file.exists()}
    listed, present = queue.tasks({task.job for task in tasks.values()}), names(folder)
    return {
        cell: task
        for cell, task in tasks.items()
        if task.id in listed and not listed[task.id].ended and ended(task.id) not in present
    }


def record(folder: Path, job: int, cells: Sequence[Cell]) -> dict[Cell, ArrayTask]:
    """Record the tasks of a submitted array, and return them."""
    tasks = {cell: ArrayTask(job=job, index=index, digest=digest(cell)) for index, cell in enumerate(cells)}
    for cell, task in tasks.items():
        records.write(folder / f"{cell.name}.json", task)
    return tasks


def digest(cell: Cell) -> str:
    """Return a hash of what a cell is trained and scored with, whichever folder `compare` is called from."""
    protocol = Path(cell.train.request.protocol)
    written = protocol.read_text(encoding="utf-8") if protocol.suffix == ".toml" else str(protocol)
    stages = [(stage.name, stage.request.subcommand, stage.request.as_options()) for stage in cell.stages]
    settings = [stages, written, asdict(cell.failure), cell.retries]
    return hashlib.sha256(json.dumps(settings, default=lambda path: str(path.resolve())).encode()).hexdigest()
