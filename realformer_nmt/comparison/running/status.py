"""How far the cells of a grid are, by their own notes: at once, for what takes long to import is not needed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tabulate import tabulate

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.grid.cell import CellFolder, digest, named, place, read
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.comparison.records.curves import Curves
from realformer_nmt.corpora.manifest import read_toml
from realformer_nmt.protocols.run_files import RECORD
from realformer_nmt.protocols.tasks import TASKS, TRANSLATION


def noted(grid: Path, folder: Path) -> list[CellFolder] | None:
    """The cells, where some have begun and all by the grid as it is now; else the stages have to be compared."""
    try:
        table, written = read_toml(grid, ""), grid.read_text(encoding="utf-8")
        if table.get("tune_seeds"):  # what is left out follows from scores
            return None
        names = named(table["families"], table["layers"], table.get("seeds", [1]), table.get("axes", {}))
        task = table.get("task", TRANSLATION)
        found = [place(folder, cell, task) for cell in names if TASKS[task]]
        asked = digest(written, grid.parent, table.get("protocol", "realformer"))
        begun = [CellRecord(cell).content for cell in found if cell.note.is_file()]
    except (UserError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if begun and all(content.get("asked") == asked for content in begun) else None


def table(cells: Sequence[CellFolder], differences: Mapping[str, Sequence[str]] = {}) -> str:
    rows = []
    for cell in cells:
        note, train = CellRecord(cell), Curves(cell.folder, cell.task).train
        last = train[-1] if train else {}
        training = read(cell.folder / RECORD)
        of = training.get("updates")
        update = of if training.get("complete") else last.get("update")  # a curve's last point may come before the end
        unfit = differences.get(cell.name, ())
        said = "; ".join(["made with other settings or files", *unfit]) if unfit else note.evidence or ""
        rows.append((cell.name, printable(note.state), update, of, last.get("nll_loss"), printable(said)))
    return tabulate(rows, ["cell", "state", "update", "of", "loss (bits)", "evidence"], floatfmt=".2f")
