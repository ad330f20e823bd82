"""Results of a cell that cannot be kept: they are set aside or removed before its stages run again."""

from collections.abc import Collection
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.stages import outputs
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records.cell_files import SCORES, TRANSLATIONS
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.protocols.running import training_run

SCORING = 2  # index of the first stage after the training and its average
WRITERS = {SCORES: "evaluate", TRANSLATIONS: "translate"}  # commands that write files beside such a record


def renew(state: CellState) -> None:
    """Set aside the results that no longer fit the grid, and those that were made from them."""
    cell = state.cell
    with locked(cell.lock, "runs"):
        is_foreign, foreign_scores = foreign_results(state)
        first = 0 if state.curves.damage or is_foreign else len(cell.stages)
        cell.record_file.unlink(missing_ok=True)
        unfit = [index for index, status in enumerate(state.stages) if status.differences]
        begin = min([first, *unfit])
        void_further_results(cell, None if begin < SCORING else foreign_scores)
        for stage in reversed(cell.stages[begin:]):
            if stage.name == "train":
                with locked(cell.folder / training_run.LOCK.format(0), "trains"):
                    training_run.set_aside(cell.folder)
            else:
                remove(stage.record, stage.request.subcommand)


def void_further_results(cell: Cell, records: Collection[Path] | None) -> None:
    """Remove those of some records that no stage of the grid writes; all of them (None) where the model is made again.

    The grid may leave a test set out. Beside another model its scores would look like another cell's."""
    of_grid = [stage.record for stage in cell.stages]
    for pattern, command in WRITERS.items():
        for record in cell.folder.glob(pattern):
            if record not in of_grid and (records is None or record in records):
                remove(record, command)


def remove(record: Path, command: str) -> None:
    """Remove a record, even if it is damaged; the command may write over the files beside it."""
    if record.is_file():
        outputs.note(record, command, *(path for path in record.parent.iterdir() if path.is_file()))
        record.unlink()


def void_scores_of(cell: Cell, stage: CellStage) -> None:
    """Remove the record of the scores of a stage that runs again: beside another translation `score` refuses it."""
    for score in cell.requests(ScoreRequest):
        if score.translation == stage.record.parent:
            remove(score.output, score.subcommand)


def foreign_results(state: CellState) -> tuple[bool, Collection[Path]]:
    """Return whether the model is another cell's, and the scores that are.

    A record that cannot be read is a difference of its stage.
    """
    try:
        return bool(state.foreign_model), state.foreign_scores
    except UserError:
        return False, ()
