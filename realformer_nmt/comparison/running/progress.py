"""What a terminal shows while cells run: a line for each that runs, with its bar, loss, speed and time left.

What has ended stands above for good, once. A line is drawn anew when it says something else, and once a second at most:
a terminal may be at the other end of a slow line, or a log of all that it got.
"""

import time
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_record import ENDED
from realformer_nmt.comparison.running.cell_run import Progress

BETWEEN_DRAWINGS = 1.0  # seconds
STILL = ("waiting", "interrupted")  # no process of it is there


class Live:
    """Where the output is no terminal: a line for every change of a cell's state."""

    def __init__(self, cells: Sequence[Cell], console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._states: dict[Cell, str] = {}
        self._drawn, self._changed = float("-inf"), False
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
        )
        self._bars = Bars(
            *(*columns, TimeRemainingColumn()),
            console=console,
            disable=not console.is_terminal,
            auto_refresh=False,
            get_time=clock,
        )
        width = max(len(cell.name) for cell in cells)
        self._all = self._bars.add_task("ended".ljust(width), total=len(cells), told="", start=False)
        self._tasks: dict[Cell, TaskID] = {
            cell: self._bars.add_task(cell.name.ljust(width), total=None, told="", start=False, visible=False)
            for cell in cells
        }

    def __enter__(self) -> "Live":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, cell: Cell, progress: Progress) -> None:
        said, state = words(progress), kind(progress)
        self._draw(cell, progress, said)
        noted = state if self._console.is_terminal else progress.state
        if noted != self._states.get(cell):
            self._states[cell] = noted
            if state in ENDED or not self._console.is_terminal:
                self._console.print(f"{cell.name}: {said}", soft_wrap=True, markup=False, highlight=False)
        if self._changed and self._clock() - self._drawn >= BETWEEN_DRAWINGS:
            self._drawn, self._changed = self._clock(), False
            self._bars.refresh()

    def _draw(self, cell: Cell, progress: Progress, said: str) -> None:
        """What is to be seen at the next refresh; a line that has ended gives way to the one above."""
        task, runs = self._bars.tasks[self._tasks[cell]], kind(progress) not in (*ENDED, *STILL)
        done = progress.updates if progress.updates and trained(cell, progress) else progress.update
        if (said, done, runs) == (task.fields["told"], task.completed, task.visible):
            return
        self._changed = True
        if progress.updates:
            self._bars.start_task(task.id)
        self._bars.update(task.id, told=said, completed=done, total=progress.updates, visible=runs)
        states = {**self._states, cell: kind(progress)}.values()
        self._bars.update(self._all, completed=sum(state in ENDED for state in states))


def kind(progress: Progress) -> str:
    """A job of a cluster says its number too."""
    return progress.state.split(",")[0]


def words(progress: Progress) -> str:
    parts = [printable(progress.state)]
    parts += [f"{progress.loss:.2f} bits"] if progress.loss is not None else []
    parts += [f"{progress.tokens_a_second:,.0f} tokens/s"] if progress.tokens_a_second is not None else []
    return ", ".join(parts)


def trained(cell: Cell, progress: Progress) -> bool:
    """The curve ends at its last point, which is not always the last update."""
    return progress.state in [stage.name for stage in cell.stages[1:]]
