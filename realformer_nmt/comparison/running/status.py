"""`compare --status`: the state of each cell by its own record, without the imports that take seconds."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tabulate import tabulate

from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.records import known
from realformer_nmt.common.terminal import printable
from realformer_nmt.common.toml_tables import read_toml
from realformer_nmt.comparison.grid.cell import CellFolder, digest, named, place
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.comparison.records.curves import Curves
from realformer_nmt.comparison.records.record_links import training_of
from realformer_nmt.tasks import TASKS, TRANSLATION


def cells_by_records(grid: Path, folder: Path) -> list[CellFolder] | None:
    """Return the cells, if some have begun and all with the grid as it is now; else the stages must be compared."""
    try:
        table, written = read_toml(grid, ""), grid.read_text(encoding="utf-8")
        if table.get("tune_seeds"):  # which cells are trained depends on scores
            return None
        names = named(table["families"], table["layers"], table.get("seeds", [1]), table.get("axes", {}))
        task = table.get("task", TRANSLATION)
        cells = [place(folder, cell, task) for cell in names if TASKS[task]]
        grid_digest = digest(written, grid.parent, table.get("protocol", "realformer"))
        notes = [CellRecord(cell).note for cell in cells if cell.note.is_file()]
    except (UserError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    unchanged = all(note.grid_digest == grid_digest for note in notes)
    return cells if notes and unchanged else None


def table(cells: Sequence[CellFolder], differences: Mapping[str, Sequence[str]] = {}) -> str:
    rows = []
    for cell in cells:
        note, train = CellRecord(cell), Curves(cell.folder, cell.task).train
        last = train[-1] if train else None
        training = training_of(cell.folder) or TrainRecord()
        of = known(training.updates)
        update = of if training.is_complete else last and last.update  # a curve's last point may come before the end
        unfit = differences.get(cell.name, ())
        evidence = "; ".join(["made with other settings or files", *unfit]) if unfit else note.evidence or ""
        rows.append((cell.name, printable(note.state), update, of, last and known(last.nll_loss), printable(evidence)))
    return tabulate(rows, ["cell", "state", "update", "of", "loss (bits)", "evidence"], floatfmt=".2f")
