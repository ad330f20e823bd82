"""`compare --status`: the state of each cell by its own record, without the imports that take seconds."""

from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.records import known
from realformer_nmt.common.terminal import printable
from realformer_nmt.common.toml_tables import read_toml
from realformer_nmt.comparison.grid.cell import digest, named, place
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.tasks import TASKS, TRANSLATION


def cells_by_records(grid: Path, folder: Path) -> list[CellRecord] | None:
    """Return the cells, if some have begun and all with the grid as it is now; else the stages must be compared."""
    try:
        table, written = read_toml(grid, ""), grid.read_text(encoding="utf-8")
        if table.get("tune_seeds"):  # which cells are trained depends on scores
            return None
        names = named(table["families"], table["layers"], table.get("seeds", [1]), table.get("axes", {}))
        task = table.get("task", TRANSLATION)
        cells = [CellRecord(place(folder, cell, task)) for cell in names if TASKS[task]]
        grid_digest = digest(written, grid.parent, table.get("protocol", "realformer"))
        notes = [record.note for record in cells if record.cell.note.is_file()]
    except (UserError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    unchanged = all(note.grid_digest == grid_digest for note in notes)
    return cells if notes and unchanged else None


def table(cells: Sequence[CellRecord]) -> str:
    rows = []
    for record in cells:
        train, training = record.curves.train, record.training or TrainRecord()
        last = train[-1] if train else None
        of = known(training.updates)
        update = of if training.is_complete else last and last.update  # a curve's last point may come before the end
        unfit = record.differences
        evidence = "; ".join(["made with other settings or files", *unfit]) if unfit else record.evidence or ""
        loss = last and known(last.nll_loss)
        rows.append((record.cell.name, printable(record.state), update, of, loss, printable(evidence)))
    lines: str = tabulate(rows, ["cell", "state", "update", "of", "loss (bits)", "evidence"], floatfmt=".2f")
    return lines
