"""Results of a cell that cannot be kept: they are set aside or removed before its stages run again."""

from itertools import dropwhile
from pathlib import Path
from typing import Any

from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.stages import outputs
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.protocols.running import training_run


def renew(state: CellState) -> None:
    """Set aside the results that no longer fit the grid, and those that were made from them."""
    cell = state.cell
    with locked(cell.lock, "runs"):
        unfit = dropwhile(lambda stage: not state.statuses[stage.name].differences, cell.stages)
        cell.record_file.unlink(missing_ok=True)
        for stage in reversed([*unfit]):
            if stage is cell.train:
                with locked(cell.folder / training_run.LOCK.format(0), "trains"):
                    training_run.set_aside(cell.folder)
            else:
                remove(stage.record, stage.request.subcommand)


def remove(record: Path, command: str) -> None:
    """Remove a record, even if it is damaged; the command may write over the files beside it."""
    if record.is_file():
        outputs.note(record, command, *(path for path in record.parent.iterdir() if path.is_file()))
        record.unlink()


def void_scores_of(cell: Cell, stage: CellStage[Any]) -> None:
    """Remove the record of the scores of a stage that runs again: beside another translation `score` refuses it."""
    for score in cell.requests(ScoreRequest):
        if score.translation == stage.record.parent:
            remove(score.output, score.subcommand)
