"""Memory of a comparison's jobs, in FOLDER/slurm: a killed `compare` finds its jobs again and submits none twice.

A submission is an array, one task per cell, with a folder of its own. Its record is written before it is submitted and
again with the job's number; where a kill comes between, the queue knows the job by the path of its script.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.records import Text
from realformer_nmt.comparison.grid import cell as grid_cell
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.running.slurm import queue
from realformer_nmt.comparison.running.slurm.queue import QueuedTask

GRID, SUBMISSION, SCRIPT = "grid.toml", "submission.json", "job.sh"  # in the folder of a submission
HINT = "end the jobs of this comparison by scancel, and remove the file"


class SubmittedCell(Struct, frozen=True, kw_only=True):
    """Cell of a submission, with the hash of what it was to be trained with."""

    name: Text
    digest: str


class Submission(Struct, frozen=True, kw_only=True):
    """Array that was submitted, or was about to be: its job is not known then."""

    number: int  # which its folder is called
    job: int | None = None
    grid_digest: str = ""  # of its text and of its protocol
    cells: list[SubmittedCell]  # in the order of the array's tasks


class Submissions(Struct, frozen=True, kw_only=True):
    """Content of jobs.json."""

    submissions: list[Submission] = []


@dataclass(frozen=True)
class ArrayTask:
    """Task of an array, which runs one cell."""

    job: int
    index: int
    folder: Path  # of its submission
    digest: str

    @property
    def id(self) -> str:
        return f"{self.job}_{self.index}"

    @property
    def ended(self) -> Path:
        """File that the task leaves when its cell has ended, however."""
        return self.folder / f"{self.index}.ended"

    @property
    def output(self) -> Path:
        return self.folder / f"{self.index}.out"


class Memory:
    """Submissions of a comparison; one `compare` at a time uses it, as it holds the comparison's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.file = self.folder / "jobs.json"
        self.submissions = records.read(self.file, Submissions, HINT).submissions if self.file.exists() else []

    def alive(self) -> dict[str, ArrayTask]:
        """Return the tasks that are queued or run, by the names of their cells; forget submissions without any."""
        submitted = [self._with_job(submission) for submission in self.submissions]
        listed = {(task.job, task.index): task for task in queue.tasks([each.job for each in submitted if each.job])}
        tasks: dict[str, ArrayTask] = {}
        remaining = []
        for submission in submitted:
            alive = {name: task for name, task in self.tasks(submission).items() if _lives(task, listed)}
            tasks |= alive
            remaining += [submission] if alive else []
        self._write(remaining)
        return tasks

    def tasks_of(self, cells: Sequence[Cell]) -> dict[str, ArrayTask]:
        """Return the tasks of these cells that are queued or run, by the cells' names."""
        alive = self.alive()
        return {cell.name: alive[cell.name] for cell in cells if cell.name in alive}

    def _with_job(self, submission: Submission) -> Submission:
        if submission.job is not None:
            return submission
        return replace(submission, job=queue.job_of(self.folder / str(submission.number) / SCRIPT))

    def tasks(self, submission: Submission) -> dict[str, ArrayTask]:
        folder = self.folder / str(submission.number)
        return {
            cell.name: ArrayTask(submission.job or 0, index, folder, cell.digest)
            for index, cell in enumerate(submission.cells)
        }

    def next_folder(self) -> Path:
        """Return the folder of the next submission, which is not there yet."""
        numbers = [int(path.name) for path in self.folder.glob("[0-9]*") if path.name.isdigit()]
        return self.folder / str(max([0, *numbers]) + 1)

    def begin(self, folder: Path, cells: Sequence[Cell], grid: str, script: str) -> Submission:
        """Write what the jobs of a new submission read, with a copy of the grid, which may change before they start."""
        submitted = [SubmittedCell(name=cell.name, digest=digest(cell)) for cell in cells]
        submission = Submission(number=int(folder.name), cells=submitted, grid_digest=cells[0].grid_digest)
        for name, text in {GRID: grid, SCRIPT: script}.items():
            with completed(folder / name) as stream:
                stream.write(text.encode())
        records.write(folder / SUBMISSION, submission)
        self._write([*self.submissions, submission])
        return submission

    def submitted(self, submission: Submission, job: int) -> dict[str, ArrayTask]:
        """Record the job of the last submission, and return its tasks by the names of their cells."""
        submitted = replace(submission, job=job)
        self._write([*self.submissions[:-1], submitted])
        return self.tasks(submitted)

    def _write(self, submissions: list[Submission]) -> None:
        if submissions != self.submissions:
            records.write(self.file, Submissions(submissions=submissions))
        self.submissions = submissions


def digest(cell: Cell) -> str:
    """Return a hash of what a cell is trained and scored with, whichever folder `compare` is called from."""
    protocol = grid_cell.digest("", Path(), cell.train.request.protocol)
    stages = []
    for stage in cell.stages:
        usual = {each.name: each.default for each in fields(stage.request)}
        options = {name: value for name, value in stage.request.as_options().items() if value != usual[name]}
        stages.append((stage.name, stage.request.subcommand, options))
    settings = [stages, protocol, asdict(cell.failure), cell.retries]
    return hashlib.sha256(json.dumps(settings, default=lambda path: str(path.resolve())).encode()).hexdigest()


def last_words(task: ArrayTask) -> str:
    """Return the last line that a task has printed."""
    text = task.output.read_text(encoding="utf-8", errors="replace") if task.output.exists() else ""
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "(no output)")


def indices(tasks: Iterable[ArrayTask]) -> dict[int, list[int]]:
    """Return the indices of tasks by the jobs of their arrays."""
    by_job: dict[int, list[int]] = {}
    for task in tasks:
        by_job.setdefault(task.job, []).append(task.index)
    return by_job


def _lives(task: ArrayTask, listed: Mapping[tuple[int, int], QueuedTask]) -> bool:
    """Tell whether a task is still to end; a job of another script only has the same number."""
    entry = listed.get((task.job, task.index))
    same_script = entry is not None and entry.script == str(task.folder / SCRIPT)
    return entry is not None and same_script and not entry.ended and not task.ended.exists()
