"""The state of a cell, read from its cell.json and from the results beside it."""

import fnmatch
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from realformer_nmt.checkpoints import belongs, run_files
from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.folder_lock import is_locked
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.stages import stage
from realformer_nmt.comparison.grid.cell import CellFolder
from realformer_nmt.comparison.records.cell_record import WAITING, CellRecord
from realformer_nmt.comparison.records.curves import Curves
from realformer_nmt.comparison.records.loss_trend import STUCK, still_falls
from realformer_nmt.evaluation.translating import translation_record

MODEL_FAILED = ("diverged", STUCK)  # an "error" is the machine's
FINAL = ("done", *MODEL_FAILED)
ENDED = (*FINAL, "error")  # the next command tries an error again
DAMAGED = "damaged"  # was done, but its results have changed since
SCORES = "run*.json"
TRANSLATIONS = "translation*/translation.json"
RESULTS = (SCORES, TRANSLATIONS)


def translation_of(run: Path) -> Path:
    """Return the place of the record of the translation that a run.json is of."""
    folder = run.stem.replace("run", run_files.TRANSLATION_FOLDER, 1)  # run-valid: translation-valid
    return run.parent / folder / translation_record.RECORD


@dataclass(frozen=True)
class CellFiles:
    """Content of the files in a cell's folder. Each is read when it is needed first, and then kept: once the cell has
    run, build another."""

    cell: CellFolder

    @functools.cached_property
    def record(self) -> CellRecord:
        file = self.cell.record_file
        return records.read(file, CellRecord, stage.AGAIN) if file.exists() else WAITING

    @functools.cached_property
    def training(self) -> TrainRecord | None:
        path = self.cell.folder / run_files.RECORD
        return records.read(path, TrainRecord, stage.AGAIN) if path.is_file() else None

    @functools.cached_property
    def average(self) -> AverageRecord | None:
        path = self.cell.folder / f"{run_files.AVERAGE}.json"
        return records.read(path, AverageRecord, stage.AGAIN) if path.is_file() else None

    @functools.cached_property
    def curves(self) -> Curves:
        return Curves(self.cell.folder, self.cell.task)

    @functools.cached_property
    def state(self) -> str:
        """State of the cell: `running` only while its lock is held, `done` only while its results are complete."""
        if self.foreign_records:
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
        """Messages about results that differ from their records, or else about records of another cell."""
        messages = []
        for record in sorted(path for pattern in RESULTS for path in self.cell.folder.glob(pattern)):
            messages += stage.damage(record)
        return messages or self.foreign_records or self._missing_records()

    def _missing_records(self) -> list[str]:
        """Return a message for each record that a cell has once it is done, and that is gone."""
        if self.record.state != "done":
            return []
        names = [path.name for path in self.cell.folder.iterdir()]
        older = {run_files.SCORES: SCORES}  # a record that names none
        scores = {name: name for name in self.record.scores or ()} or older
        patterns = {run_files.RECORD: run_files.RECORD, **scores}
        missing = [f"{name} is gone" for name, pattern in patterns.items() if not fnmatch.filter(names, pattern)]
        runs = [self.cell.folder / name for pattern in scores.values() for name in fnmatch.filter(names, pattern)]
        translations = [translation_of(run) for run in runs if translation_record.RECORD in belongs.inputs(run)]
        return [*missing, *(f"{path.parent.name}/{path.name} is gone" for path in translations if not path.is_file())]

    @functools.cached_property
    def foreign_records(self) -> list[str]:
        """Messages about records and curves that cannot be read or, where the cell has ended, are of another one."""
        try:
            scores = itertools.chain.from_iterable(self.foreign_scores.values())
            return [*self.curves.damage, *self.foreign_model, *scores]
        except UserError as error:
            return [str(error)]

    @functools.cached_property
    def foreign_model(self) -> list[str]:
        """Messages about records of the model that are another cell's; none before the cell has ended."""
        train, average, name = self.training or TrainRecord(), self.average or AverageRecord(), self.record.cell
        if not self.final:
            return []
        messages = [f"{run_files.CELL} is of cell {name}"] if name and name != self.cell.name else []
        return [*messages, *belongs.foreign_to(train, self.cell.folder, average)]

    @functools.cached_property
    def foreign_scores(self) -> dict[Path, list[str]]:
        """Messages, by run.json, about scores of another model or text; none before the cell has ended."""
        runs = sorted(self.cell.folder.glob(SCORES)) if self.final else []
        return {run: messages for run in runs if (messages := self._foreign_inputs(run))}

    def _foreign_inputs(self, run: Path) -> list[str]:
        files = (self.cell.folder / run_files.RECORD, translation_of(run))
        hashes = {file.name: sha256(file) for file in files if file.is_file()}
        average = self.average and self.average.outputs.get(run_files.AVERAGE)
        if average:
            hashes |= dict.fromkeys((run_files.AVERAGE, "checkpoint"), average.sha256)  # as `score`, `evaluate` name it
        try:
            return belongs.foreign(run, hashes)
        except UserError as error:
            return [str(error)]

    @property
    def differences(self) -> Sequence[str]:
        """Differences from what the grid asks for: none, where the cell was made by the grid as it is now."""
        return ()

    @property
    def evidence(self) -> str | None:
        return "; ".join(self.damage) if self.state == DAMAGED else self.record.evidence

    @property
    def failed(self) -> bool:
        return self.record.state in MODEL_FAILED

    @property
    def final(self) -> bool:
        return self.record.state in FINAL
