"""Comparison of a cell's results with what the grid asks for now; each stage's record has its settings and inputs."""

import functools
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.stages.provenance import changed_settings
from realformer_nmt.common.stages.stage import StageStatus
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records import scored_run
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.records.scored_run import ScoredRun
from realformer_nmt.protocols.running.planned_training import PlannedTraining
from realformer_nmt.protocols.train import TrainRequest


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
