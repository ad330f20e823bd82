"""`compare --merge`: copies the finished cells of other folders, which other machines made from the same grid.

Everything is checked before anything is copied.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed_folder
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_state import DAMAGED, CellState

NOTHING = "nothing was merged"


def merge(cells: Sequence[CellState], in_folders: Mapping[Path, Sequence[CellState]]) -> None:
    """Copy the finished cells that are not here; `in_folders` has the same cells, in the same order, in each other
    folder. An earlier merge may have copied them, and have been killed before its report."""
    for folder, states in in_folders.items():
        if not any(state.final for state in states):
            raise UserError(f"{folder}: no cell of the grid is finished there; {NOTHING}")
    copies = []
    for here, *elsewhere in zip(cells, *in_folders.values(), strict=True):
        source = to_copy(here, elsewhere)
        if source:
            copies.append((source, here.cell))
    if not copies:
        print("up to date: the finished cells of those folders are here already")
    for source, cell in copies:
        copy(source.folder, cell.folder)
        print(f"{cell.name}: {CellState(cell).state}, of {source.folder}")


def to_copy(here: CellState, elsewhere: Sequence[CellState]) -> Cell | None:
    """Return the cell to be copied, if it is finished elsewhere and not here."""
    finished = [state for state in (here, *elsewhere) if state.final]
    for state in finished:
        if state.differences:
            changes = "; ".join(state.differences)
            raise UserError(f"{state.cell.folder} is not what the grid asks for: {changes}; {NOTHING}")
        if state is not here and state.state == DAMAGED:
            raise UserError(
                f"{state.cell.folder} is damaged: {state.evidence}; copy the complete folder, then merge it; {NOTHING}"
            )
    if not finished:
        return None
    first, folder = finished[0].cell, here.cell.folder
    for other in finished[1:]:
        if training(other.cell) != training(first):
            raise UserError(
                f"{first.folder} and {other.cell.folder} are two trainings of one cell: move one of them out of its "
                f"comparison; {NOTHING}"
            )
    if first is here.cell:
        return None
    if folder.exists():
        raise UserError(f"{folder} is unfinished, and {first.folder} is finished: remove {folder}; {NOTHING}")
    return first


def training(cell: Cell) -> str | None:
    """Return the hash of a training's record: equal for two copies of a training, different for two trainings."""
    return sha256(cell.train.record) if cell.train.record.is_file() else None


def copy(folder: Path, to: Path) -> None:
    """Copy a folder atomically, without checkpoints, which a finished cell does not need."""
    with completed_folder(to) as part:  # contents alone are copied, not permissions
        shutil.copytree(folder, part, ignore=ignored, copy_function=shutil.copyfile, dirs_exist_ok=True)


def ignored(folder: str, names: list[str]) -> set[str]:
    """Return the names that are not copied: hidden and set-aside files, checkpoints, links."""
    unneeded = shutil.ignore_patterns(".*", "before-*", "checkpoint*.pt", "crash.pt")(folder, names)
    return {*unneeded, *(name for name in names if Path(folder, name).is_symlink())}
