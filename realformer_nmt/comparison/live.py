"""What a terminal shows while cells run: a line a cell, with its bar, loss, speed and time left."""

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from realformer_nmt.comparison.cells import Cell
from realformer_nmt.comparison.running import Progress


class Live:
    """Where the output is no terminal: a line for every change of a cell's state."""

    def __init__(self, cells: Sequence[Cell], console: Console) -> None:
        self._console = console
        self._states: dict[Cell, str] = {}
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
        )
        self._bars = Bars(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)
        width = max(len(cell.name) for cell in cells)
        self._tasks: dict[Cell, TaskID] = {
            cell: self._bars.add_task(cell.name.ljust(width), total=None, told="waiting", start=False) for cell in cells
        }

    def __enter__(self) -> "Live":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def told(self, cell: Cell, progress: Progress) -> None:
        parts = [progress.state]
        parts += [f"{progress.loss:.2f} bits"] if progress.loss is not None else []
        parts += [f"{progress.tokens_a_second:,.0f} tokens/s"] if progress.tokens_a_second is not None else []
        task = self._tasks[cell]
        if progress.updates:
            self._bars.start_task(task)
            self._bars.update(task, completed=progress.update, total=progress.updates)
        self._bars.update(task, told=", ".join(parts))
        if progress.state != self._states.get(cell):
            self._states[cell] = progress.state
            if not self._console.is_terminal:
                self._console.print(f"{cell.name}: {', '.join(parts)}", soft_wrap=True, markup=False)
