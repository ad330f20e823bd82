"""Comparison of a cell's results with what the grid asks for now; each stage's record has its settings and inputs."""

import functools
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.stages import outputs
from realformer_nmt.common.stages.provenance import changed_settings
from realformer_nmt.common.stages.stage import StageStatus
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records import record_links, scored_run
from realformer_nmt.comparison.records.cell_files import RESULTS, CellFiles
from realformer_nmt.comparison.records.scored_run import ScoredRun
from realformer_nmt.evaluation.score import ScoreRequest
from realformer_nmt.protocols.running import training_run
from realformer_nmt.protocols.running.planned_training import PlannedTraining
from realformer_nmt.protocols.train import TrainRequest

SCORING = 2  # index of the first stage after the training and its average
RESULT_COMMANDS = ("score", "evaluate", "translate")


def status_of(stage: CellStage) -> StageStatus:
    """Return whether a stage is done and what has changed since; settings that no stage can have are a change."""
    if not stage.record.is_file():
        return StageStatus()
    try:
        return stage.request.stage().status()
    except UserError as error:
        return StageStatus(differences=(str(error),))


@dataclass(frozen=True)
class CellState(CellFiles):
    """State of a cell beside what the grid asks for now. It is read once and handed on: once the cell has run, build
    another."""

    cell: Cell

    @functools.cached_property
    def stages(self) -> list[StageStatus]:
        return [status_of(stage) for stage in self.cell.stages]

    @functools.cached_property
    def planned(self) -> PlannedTraining:
        return PlannedTraining(self.cell.requests(TrainRequest)[0])

    @functools.cached_property
    def run(self) -> ScoredRun | None:
        """The scores on the first test set."""
        return scored_run.read(self.cell.scores)

    @property
    def is_finished(self) -> bool:
        """Tell whether nothing is left to run: all stages are done, or the model failed and is recorded."""
        failed = self.failed and self.cell.stages[0].record.is_file()
        return self.final and (failed or all(stage.done for stage in self.stages))

    @functools.cached_property
    def differences(self) -> list[str]:
        """Differences from what the grid asks for, stage by stage, up to the first stage that is still to be done."""
        has_begun = self.cell.stages[0].record.is_file()
        lines = [f"corpus: {difference}" for difference in self.cell.corpus_differences if has_begun]
        for stage, status in zip(self.cell.stages, self.stages, strict=True):
            lines += [f"{stage.name}: {difference}" for difference in status.differences]
            if not status.done:
                break
        try:
            return [*lines, *self.foreign_records, *self._failure_differences()]
        except UserError as error:  # cell.json cannot be read
            return [*lines, str(error)]

    def _failure_differences(self) -> list[str]:
        """Return the settings of `failure` that have changed since the cell was run."""
        before = self.record.failure
        return list(changed_settings(asdict(before), asdict(self.cell.failure))) if before else []


def read(cells: Iterable[Cell]) -> list[CellState]:
    """Return the states of cells as they are now."""
    return [CellState(cell) for cell in cells]


def renew(state: CellState) -> None:
    """Set aside the results that no longer fit the grid, and those that were made from them."""
    cell = state.cell
    with locked(cell.lock, "runs"):
        first = 0 if state.curves.damage else first_foreign_stage(state)
        cell.record_file.unlink(missing_ok=True)
        unfit = [index for index, status in enumerate(state.stages) if status.differences]
        begin = min([first, *unfit])
        if begin < SCORING or first == SCORING:
            void_further_results(cell)
        for stage in reversed(cell.stages[begin:]):
            if stage.name == "train":
                with locked(cell.folder / training_run.LOCK.format(0), "trains"):
                    training_run.set_aside(cell.folder)
            else:
                outputs.void(stage.record, stage.request.subcommand)


def void_further_results(cell: Cell) -> None:
    """Remove the records of scores and translations that no stage of the grid writes: a test set may be left out.

    Their model is made again, and beside the new one they would look like another cell's."""
    of_grid = [stage.record for stage in cell.stages]
    for record in (path for pattern in RESULTS for path in cell.folder.glob(pattern)):
        if record not in of_grid:
            for command in RESULT_COMMANDS:
                outputs.void(record, command)


def void_scores_of(cell: Cell, stage: CellStage) -> None:
    """Remove the record of the scores of a stage that runs again: beside another translation `score` refuses it."""
    for score in cell.requests(ScoreRequest):
        if score.translation == stage.record.parent:
            outputs.void(score.output, score.subcommand)


def first_foreign_stage(state: CellState) -> int:
    """Return the index of the first stage whose record is another cell's; without one, the number of stages.

    Scores of another model leave the training as it is. A record that cannot be read is a difference of its stage."""
    cell = state.cell
    try:
        train, average = state.training or TrainRecord(), state.average or AverageRecord()
        if state.final and record_links.of_model(cell, state.record, train, average):
            return 0
    except UserError:
        return len(cell.stages)
    return SCORING if state.final and state.foreign_records else len(cell.stages)
