"""The state of a cell: what its folder holds, and how that differs from what the grid asks for now."""

import functools
from dataclasses import asdict, dataclass
from pathlib import Path

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.run_files import AVERAGE, RECORD
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.folder_lock import is_locked
from realformer_nmt.common.stages.provenance import changed_settings
from realformer_nmt.common.stages.stage import AGAIN, StageRequest, StageStatus, damage
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records import cell_record
from realformer_nmt.comparison.records.cell_record import FINAL, MODEL_FAILED, STUCK, CellRecord
from realformer_nmt.comparison.records.curves import Curves, still_falls
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.protocols.running.planned_training import PlannedTraining

DAMAGED = "damaged"  # was done, but its results have changed since


def status_of(stage: CellStage[StageRequest]) -> StageStatus:
    """Return whether a stage is done and what has changed since; settings that no stage can have are a change."""
    if not stage.record.is_file():
        return StageStatus()
    try:
        return stage.request.stage().status()
    except UserError as error:
        return StageStatus(differences=(str(error),))


def read_run(path: Path) -> RunRecord | None:
    """Read a run.json; return None if it does not exist yet, and refuse one with an unknown metric."""
    if not path.is_file():
        return None
    run = records.read(path, RunRecord, AGAIN)
    unknown = [name for name in run.scores if name not in METRICS]
    if unknown:
        raise UserError(f"{path} has scores in {unknown[0]!r}, which is no metric: pass the --user-dir that adds it")
    return run


@dataclass(frozen=True)
class CellState:
    """State of a cell. Each file is read when it is needed first, and then kept: once the cell has run, build
    another."""

    cell: Cell

    @functools.cached_property
    def record(self) -> CellRecord:
        return cell_record.read(self.cell)

    @functools.cached_property
    def training(self) -> TrainRecord | None:
        path = self.cell.folder / RECORD
        return records.read(path, TrainRecord, AGAIN) if path.is_file() else None

    @functools.cached_property
    def average(self) -> AverageRecord | None:
        path = self.cell.folder / f"{AVERAGE}.json"
        return records.read(path, AverageRecord, AGAIN) if path.is_file() else None

    @functools.cached_property
    def curves(self) -> Curves:
        return Curves(self.cell.folder, self.cell.task)

    @functools.cached_property
    def statuses(self) -> dict[str, StageStatus]:
        """Status of each stage, by its name."""
        return {stage.name: status_of(stage) for stage in self.cell.stages}

    @functools.cached_property
    def planned(self) -> PlannedTraining:
        return PlannedTraining(self.cell.train.request)

    @functools.cached_property
    def run(self) -> RunRecord | None:
        """The scores on the first test set."""
        return read_run(self.cell.scores)

    @functools.cached_property
    def state(self) -> str:
        """State of the cell: `running` only while its lock is held, `done` only while its results are complete."""
        if self.unreadable:
            return DAMAGED
        state = self.record.state
        if state == "running" and not is_locked(self.cell.lock):
            return "interrupted"
        return DAMAGED if state == "done" and self.damage else state

    @property
    def progress(self) -> str:
        """State as the terminal shows it: whether updates are too few is known only once all cells have ended."""
        falls = self.state == STUCK and still_falls(self.curves.train)
        return f"{STUCK}, but the loss still falls" if falls else self.state

    @functools.cached_property
    def damage(self) -> list[str]:
        """Messages about results that are missing or differ from their records."""
        scorings = [stage.record for stage in self.cell.scorings if stage.record.is_file()]
        messages = [message for record in scorings for message in damage(record)]
        names = self.record.records or [RECORD, self.cell.scores.name]  # version 0.3.0 recorded none
        return messages + [f"{name} is gone" for name in names if not (self.cell.folder / name).is_file()]

    @functools.cached_property
    def unreadable(self) -> list[str]:
        """A message about a record that cannot be read."""
        try:
            _ = self.record, self.training, self.average
        except UserError as error:
            return [str(error)]
        return []

    @functools.cached_property
    def differences(self) -> list[str]:
        """Differences from what the grid asks for, stage by stage, up to the first stage that is still to be done."""
        has_begun = self.cell.train.record.is_file()
        lines = [f"corpus: {difference}" for difference in self.cell.corpus_differences if has_begun]
        for name, status in self.statuses.items():
            lines += [f"{name}: {difference}" for difference in status.differences]
            if not status.done:
                break
        return [*lines, *(self.unreadable or self._failure_differences())]

    def _failure_differences(self) -> list[str]:
        """Return the settings of `failure` that have changed since the cell was run."""
        before = self.record.failure
        return list(changed_settings(asdict(before), asdict(self.cell.failure))) if before else []

    @property
    def is_finished(self) -> bool:
        """Tell whether nothing is left to run: it is trained and scored, or the model failed and is recorded."""
        failed = self.failed and self.cell.train.record.is_file()
        rest = [name for name, status in self.statuses.items() if not status.done]
        models_removed = rest == ["average"] and not any(self.cell.checkpoints.glob("*.pt"))
        return self.final and (failed or not rest or models_removed)

    @property
    def evidence(self) -> str | None:
        return "; ".join(self.unreadable or self.damage) if self.state == DAMAGED else self.record.evidence

    @property
    def failed(self) -> bool:
        return self.record.state in MODEL_FAILED

    @property
    def final(self) -> bool:
        return self.record.state in FINAL
