"""`compare --status`: the state of each cell by its own record, without the imports that take seconds."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, convert
from tabulate import tabulate

from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import none_if_unset
from realformer_nmt.common.requests.toml_tables import read_toml
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.grid.cell import digest, name_cells, place
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.records.loss_trend import TOO_SHORT, all_too_short
from realformer_nmt.tasks import TASKS, TRANSLATION


class CellNames(Struct):
    """Keys of a grid that name its cells; the class Grid, which checks all keys, imports torch for it."""

    families: list[str]
    layers: list[str | int]
    seeds: tuple[int, ...] = (1,)
    axes: dict[str, list[int | float]] = {}
    tune_seeds: tuple[int, ...] = ()
    task: str = TRANSLATION
    protocol: str = "realformer"


def cells_by_records(grid: Path, folder: Path) -> list[CellFiles] | None:
    """Return the cells, if some have begun and all with the grid as it is now; else the stages must be compared."""
    try:
        names, written = convert(read_toml(grid, ""), CellNames), grid.read_text(encoding="utf-8")
        if names.tune_seeds or names.task not in TASKS:  # which cells are trained depends on scores
            return None
        every = name_cells(names.families, list(map(str, names.layers)), names.seeds, names.axes)
        cells = [CellFiles(place(folder, cell, names.task)) for cell in every]
        grid_digest = digest(written, grid.parent, names.protocol)
        records = [files.record for files in cells if files.cell.record_file.is_file()]
    except (UserError, OSError, ValueError):
        return None
    unchanged = all(record.grid_digest == grid_digest for record in records)
    return cells if records and unchanged else None


def table(cells: Sequence[CellFiles]) -> str:
    rows = []
    too_short = all_too_short([(cell.state, cell.curves.train) for cell in cells])
    for record in cells:
        unread = bool(record.foreign_records)
        train, valid = record.curves.train, record.curves.valid
        training = (None if unread else record.training) or TrainRecord()
        last = train[-1] if train else None
        of = none_if_unset(training.updates)
        update = end(train, valid, of) if training.is_complete else last and last.update
        unfit = record.differences
        evidence = "; ".join(["made with other settings or files", *unfit]) if unfit else record.evidence or ""
        loss = last and none_if_unset(last.nll_loss)
        state = TOO_SHORT if too_short else printable(record.state)
        rows.append((record.cell.name, state, update, of, loss, printable(evidence)))
    lines: str = tabulate(rows, ["cell", "state", "update", "of", "loss (bits)", "evidence"], floatfmt=".2f")
    return lines


def end(train: Sequence[CurvePoint], valid: Sequence[CurvePoint], planned: int | None) -> int | None:
    """Return the last update: that of a validation after all else where --patience or its like ended the training.

    Without one a training comes to its planned end, although the last point of its curve may lie before."""
    return valid[-1].update if valid and train and valid[-1].update >= train[-1].update else planned
