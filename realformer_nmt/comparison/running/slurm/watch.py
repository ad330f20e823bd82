"""Watch over a cluster's jobs: by the files that they leave, and seldom by the queue.

A job that dies outside Python leaves no file: out of memory, with its node, by scancel. It is lost once the queue has
not known it for a while.
"""

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_record import CellLog
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.cell_run import Progress, last_line
from realformer_nmt.comparison.running.local import ShowProgress
from realformer_nmt.comparison.running.slurm import array_tasks, queue
from realformer_nmt.comparison.running.slurm.array_tasks import ArrayTask
from realformer_nmt.comparison.running.slurm.queue import QueuedTask, QueueError

BETWEEN_FILES = 2.0  # seconds between two readings of a shared disk
GRACE = 60.0  # seconds that a shared disk has to show what an ended job wrote: the cache of NFS is as old


class Watch:
    """Wait for the tasks of cells. The queue is asked after 2 seconds, 4, 8 and so on, up to every `poll` seconds."""

    def __init__(self, folder: Path, running: Mapping[Cell, ArrayTask], show: ShowProgress, poll: float) -> None:
        self._folder, self._waiting, self._show = folder, dict(running), show
        self._poll, self._grace = poll, min(GRACE, poll)
        self._pause, self._due = BETWEEN_FILES, time.monotonic()
        self._missing: dict[Cell, float] = {}  # since when
        self._held: set[Cell] = set()
        self._unanswered = False
        self._unrecorded: list[str] = []

    def wait(self) -> None:
        """Return when every cell has ended; raise if an end could not be recorded."""
        while self.look():
            time.sleep(BETWEEN_FILES)
        if self._unrecorded:
            raise UserError(f"{'; '.join(self._unrecorded)}; the same command tries again")

    def look(self) -> bool:
        """Look once for cells that have ended; tell whether some have not."""
        self._take_ended()
        if self._waiting and time.monotonic() >= self._due:
            self._ask()
            self._due = time.monotonic() + (min(self._grace, self._pause) if self._missing else self._pause)
            self._pause = min(self._poll, 2 * self._pause)
        return bool(self._waiting)

    def _take_ended(self) -> None:
        present = array_tasks.names(self._folder)
        for cell, task in list(self._waiting.items()):
            if array_tasks.ended(task.id) in present:
                self._end(cell)

    def _end(self, cell: Cell) -> None:
        del self._waiting[cell]
        self._show(cell, Progress(CellState(cell).progress))

    def _ask(self) -> None:
        try:
            listed = queue.tasks({task.job for task in self._waiting.values()})
        except QueueError as error:
            if not self._unanswered:
                print(f"{error}; the jobs are watched by their files meanwhile", file=sys.stderr)
            self._unanswered = True
            return
        self._unanswered = False
        for cell, task in list(self._waiting.items()):
            entry = listed.get(task.id)
            if entry is not None and not entry.ended:
                self._missing.pop(cell, None)
                self._show(cell, Progress(f"{CellState(cell).state}, job {task.id} {entry}"))
                self._report_hold(cell, task, entry)
            elif time.monotonic() - self._missing.setdefault(cell, time.monotonic()) >= self._grace:
                self._lose(cell, task, f"ended as {entry.state}" if entry else "is not in the queue any more")

    def _report_hold(self, cell: Cell, task: ArrayTask, entry: QueuedTask) -> None:
        """Print once that a job is held, which may end after days or never."""
        if not entry.held:
            self._held.discard(cell)
        elif cell not in self._held:
            self._held.add(cell)
            actions = f"`scontrol release {task.id}` lets it run, `scancel {task.id}` makes its cell an error"
            print(f"{cell.name}: SLURM holds job {task.id}, {entry}: {actions}", file=sys.stderr)

    def _lose(self, cell: Cell, task: ArrayTask, how: str) -> None:
        try:
            CellLog(cell).lost(f"job {task.id} {how}: {last_line(self._folder / f'{task.id}.out')}")
        except (UserError, OSError) as error:
            self._unrecorded.append(f"{cell.name}: job {task.id} {how}, which cannot be recorded: {error}")
        self._end(cell)
