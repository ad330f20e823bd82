"""Progress on the terminal: a line per running cell with its bar, loss, speed and remaining time.

A cell that has ended is printed once, above the bars. They are drawn once a second: the terminal may be behind a slow
connection.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_record import ENDED
from realformer_nmt.comparison.running.cell_run import Progress

STILL = ("waiting", "interrupted")  # states without a process


class Live(Bars):
    """Bars of the running cells; where the output is no terminal, a line per change of a cell's state."""

    def __init__(self, cells: Sequence[Cell], console: Console) -> None:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(),
        )
        super().__init__(*columns, console=console, disable=not console.is_terminal, refresh_per_second=1)
        self._cell_states: dict[Cell, str] = {}
        width = max(len(cell.name) for cell in cells)
        self._all_cells = self.add_task("ended".ljust(width), total=len(cells), text="", start=False)
        self._cell_tasks: dict[Cell, TaskID] = {
            cell: self.add_task(cell.name.ljust(width), total=None, text="", start=False, visible=False)
            for cell in cells
        }

    def show(self, cell: Cell, progress: Progress) -> None:
        text, state = described(progress), state_of(progress)
        self._draw(cell, progress, text)
        shown = state if self.console.is_terminal else progress.state
        if shown != self._cell_states.get(cell):
            self._cell_states[cell] = shown
            if state in ENDED or not self.console.is_terminal:
                self.console.print(f"{cell.name}: {text}", soft_wrap=True, markup=False, highlight=False)

    def _draw(self, cell: Cell, progress: Progress, text: str) -> None:
        """Update a cell's bar; that of a cell that does not run is hidden."""
        task, runs = self._cell_tasks[cell], state_of(progress) not in (*ENDED, *STILL)
        trained = progress.state in [stage.name for stage in cell.after_training]  # the curve may end before
        done = progress.updates if progress.updates and trained else progress.update
        if progress.updates:
            self.start_task(task)
        self.update(task, text=text, completed=done, total=progress.updates, visible=runs)
        states = {**self._cell_states, cell: state_of(progress)}.values()
        self.update(self._all_cells, completed=sum(state in ENDED for state in states))


def state_of(progress: Progress) -> str:
    """Return the state alone; that of a cluster's job has the number of the job too."""
    return progress.state.split(",")[0]


def described(progress: Progress) -> str:
    """Return `train, 5.12 bits, 1,234 tokens/s`."""
    parts = [printable(progress.state)]
    parts += [f"{progress.loss:.2f} bits"] if progress.loss is not None else []
    parts += [f"{progress.tokens_a_second:,.0f} tokens/s"] if progress.tokens_a_second is not None else []
    return ", ".join(parts)
