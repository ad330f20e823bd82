"""Of the settings that are tried for a family, the one with the lowest validation loss.

With `tune_seeds` a grid tries with these seeds alone. When all of their trainings have come to an end, each further
seed is trained with the setting that they chose; its other cells are left out.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.axes import Point, Value
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.groups import Group, Place
from realformer_nmt.comparison.records import run_record
from realformer_nmt.comparison.records.cell_record import MODEL_FAILED, CellRecord

Tried = TypeVar("Tried")


def left(depth: str, point: Iterable[tuple[str, Value]], tune: Sequence[str]) -> Place:
    """Where it stands on the axes that nothing is chosen of."""
    return depth, tuple((name, value) for name, value in point if name not in tune)


def mean(losses: Sequence[float | None]) -> float | None:
    """None where a training has not come to its end."""
    known = [loss for loss in losses if loss is not None]
    return statistics.fmean(known) if known and len(known) == len(losses) else None


def tries(grid: Grid, seed: int) -> bool:
    return not grid.tune_seeds or seed in grid.tune_seeds


def ready(grid: Grid, cells: Sequence[Cell]) -> list[Cell]:
    """Those that wait for no choice."""
    chosen = choices(grid, cells)
    return [cell for cell in cells if tries(grid, cell.seed) or chosen.get(settings(grid, cell)) == cell.point]


def told(grid: Grid, cells: Sequence[Cell]) -> str:
    """For a plan, which counts all that may come."""
    later = len(cells) - len(ready(grid, cells))
    return (
        f"{later} of them wait for a choice of {', '.join(grid.tune)}: only the chosen are trained\n" if later else ""
    )


def wanted(grid: Grid, cells: Sequence[Cell]) -> list[Cell]:
    """All but those left out."""
    chosen = choices(grid, cells)
    kept = {cell: chosen.get(settings(grid, cell), cell.point) for cell in cells}
    return [cell for cell in cells if tries(grid, cell.seed) or kept[cell] == cell.point]


def choices(grid: Grid, cells: Sequence[Cell]) -> dict[Group, Point | None]:
    """Where all that try are final; None where every setting failed."""
    trying: dict[Group, list[Cell]] = {}
    for cell in cells if grid.tune_seeds else ():
        if tries(grid, cell.seed):
            trying.setdefault(settings(grid, cell), []).append(cell)
    return {group: choose(tried) for group, tried in trying.items() if all(map(ended, tried))}


def ended(cell: Cell) -> bool:
    """Not with a record that was damaged or removed, which is to be made again."""
    try:
        note = CellRecord(cell)
        return note.state in MODEL_FAILED or (note.state == "done" and cell.scores.is_file())
    except UserError:
        return False


def settings(grid: Grid, cell: Cell) -> Group:
    """That are tried beside each other."""
    return cell.family, left(cell.layers, cell.point, grid.tune)


def choose(tried: Sequence[Cell]) -> Point | None:
    losses: dict[Point, list[float | None]] = {}
    for cell in tried:
        losses.setdefault(cell.point, []).append(loss(cell))
    return lowest({point: mean(of_seeds) for point, of_seeds in losses.items()})


def lowest(losses: Mapping[Tried, float | None]) -> Tried | None:
    known = {tried: loss for tried, loss in losses.items() if loss is not None}
    return min(known, key=known.__getitem__, default=None)


def loss(cell: Cell) -> float | None:
    done = CellRecord(cell).state == "done"
    return run_record.validation_loss(run_record.read(cell.scores)) if done else None
