"""Choice of each family's setting: the one with the lowest validation loss of those that are tried.

With `tune_seeds` a grid tries with these seeds alone. When all of their trainings have ended, each further seed is
trained with the setting that they chose; its other cells are not trained.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from realformer_nmt.comparison.grid.axes import Group, Place, Point, Value
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.records.cell_record import MODEL_FAILED
from realformer_nmt.comparison.records.cell_state import CellState

Tried = TypeVar("Tried")


def untuned_place(depth: str, point: Iterable[tuple[str, Value]], tune: Sequence[str]) -> Place:
    """Return the depth and the values on the axes that are not tuned."""
    return depth, tuple((name, value) for name, value in point if name not in tune)


def mean(losses: Sequence[float | None]) -> float | None:
    """Return the mean loss; None if there are no trainings or one of them has not ended."""
    numbers = [loss for loss in losses if loss is not None]
    return statistics.fmean(numbers) if numbers and len(numbers) == len(losses) else None


def tries(grid: Grid, seed: int) -> bool:
    """Tell whether a seed's trainings take part in the choice."""
    return not grid.tune_seeds or seed in grid.tune_seeds


def needed(grid: Grid, cells: Sequence[CellState], waiting: bool = True) -> list[CellState]:
    """Return the cells that are trained: all but those whose setting was not chosen, with or without those that wait
    for a choice."""
    points = choices(grid, cells)

    def is_needed(cell: Cell) -> bool:
        unchosen = cell.point if waiting else None
        return tries(grid, cell.seed) or points.get(candidates(grid, cell), unchosen) == cell.point

    return [state for state in cells if is_needed(state.cell)]


def choices(grid: Grid, cells: Sequence[CellState]) -> dict[Group, Point | None]:
    """Return each point that is chosen so far; None if every setting failed."""
    if not grid.tune_seeds:
        return {}
    trying: dict[Group, list[CellState]] = {}
    for state in cells:
        if tries(grid, state.cell.seed):
            trying.setdefault(candidates(grid, state.cell), []).append(state)
    return {group: choose(tried) for group, tried in trying.items() if all(map(ended, tried))}


def ended(cell: CellState) -> bool:
    """Tell whether a training has failed, or is done and scored."""
    return cell.state in MODEL_FAILED or (cell.state == "done" and cell.cell.scores.is_file())


def candidates(grid: Grid, cell: Cell) -> Group:
    """Return the group of settings that a cell's setting is chosen from."""
    return cell.family, untuned_place(cell.layers, cell.point, grid.tune)


def choose(tried: Sequence[CellState]) -> Point | None:
    losses: dict[Point, list[float | None]] = {}
    for state in tried:
        run = state.run if state.state == "done" else None
        losses.setdefault(state.cell.point, []).append(run.validation_loss if run else None)
    return lowest({point: mean(of_seeds) for point, of_seeds in losses.items()})


def lowest(losses: Mapping[Tried, float | None]) -> Tried | None:
    numbers = {tried: loss for tried, loss in losses.items() if loss is not None}
    return min(numbers, key=numbers.__getitem__, default=None)
