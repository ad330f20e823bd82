"""`compare --merge`: finished cells of other folders, which other machines made by the same grid, beside those here.

Everything is checked before anything is copied.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from realformer_nmt.common.atomic_files import writing
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records import run_record
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.comparison.running.freshness import differences

NOTHING = "nothing was merged"


def check_cells(folders: Sequence[Path]) -> None:
    """Of several one may be mistyped: the others alone would not be what was asked for."""
    for folder in folders:
        if not (folder / "cells").is_dir():
            raise UserError(f"{folder} holds no folder cells: give the --folder of another comparison; {NOTHING}")


def merge(ours: Sequence[Cell], others: Sequence[Sequence[Cell]]) -> None:
    """`others` are the same cells, in the same order, in each other folder."""
    wanted = [(mine, cell) for mine, *theirs in zip(ours, *others, strict=True) if (cell := new(mine, theirs))]
    if not wanted:
        raise UserError(f"no cell of the grid is finished in those folders and not here: {NOTHING}")
    for mine, cell in wanted:
        copy(cell.folder, mine.folder)
        print(f"{mine.name}: {CellRecord(mine).state}, of {cell.folder}")


def new(mine: Cell, theirs: Sequence[Cell]) -> Cell | None:
    """The one to be copied, where it is finished elsewhere and not here."""
    finished = [cell for cell in (mine, *theirs) if CellRecord(cell).final]
    for cell in finished:
        if told := differences(cell):
            raise UserError(f"{cell.folder} is not what the grid asks for: {'; '.join(told)}; {NOTHING}")
    for other in finished[1:]:
        if records(other) != records(finished[0]):
            raise UserError(
                f"{finished[0].folder} and {other.folder} are two trainings of one cell: keep one of them, and move "
                f"the other away; {NOTHING}"
            )
    if not finished or finished[0] is mine:
        return None
    if mine.folder.exists():
        raise UserError(
            f"{mine.folder} has begun and is not finished, and {finished[0].folder} is: remove the first; {NOTHING}"
        )
    check_reference(finished[0], mine)
    return finished[0]


def records(cell: Cell) -> list[str | None]:
    """Two copies of a training have the same; of two trainings at least the times differ."""
    files = (cell.note, *(stage.record for stage in cell.stages))
    return [sha256(file) if file.is_file() else None for file in files]


def check_reference(cell: Cell, mine: Cell) -> None:
    """run.json names it relative to itself."""
    reference = run_record.read(cell.scores).get("files", {}).get("reference")
    if reference is None:
        return
    with expected(cell.scores, NOTHING):
        file = mine.folder / reference["path"]
        if not file.resolve().is_file() or sha256(file.resolve()) != reference["sha256"]:
            raise UserError(
                f"{cell.scores} was scored with {reference['path']}, seen from its folder; seen from {mine.folder} "
                f"that is not there, or another file: put the prepared corpus there; {NOTHING}"
            )


def copy(folder: Path, to: Path) -> None:
    """Whole or not at all; without checkpoints, which nobody needs of a finished cell."""
    part = to.with_name(f".{to.name}.part")
    with writing(to):
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(folder, part, ignore=left_out, copy_function=shutil.copyfile)  # contents, not who may do what
        part.rename(to)


def left_out(folder: str, names: list[str]) -> set[str]:
    kept = Path(folder).name == "checkpoints"
    return {
        name
        for name in names
        if name.startswith((".", "before-")) or not is_own(Path(folder, name)) or (kept and name.endswith(".pt"))
    }


def is_own(path: Path) -> bool:
    """No link to elsewhere, pipe or device."""
    return not path.is_symlink() and (path.is_file() or path.is_dir())
