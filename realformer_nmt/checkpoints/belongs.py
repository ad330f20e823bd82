"""Tells by hashes whether a checkpoint belongs to a training, whose record has those of its checkpoints."""

from collections.abc import Iterable
from pathlib import Path

from realformer_nmt.checkpoints.average_record import AverageRecord, SourceCheckpoint
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.provenance import is_same

HINT = "put the run's own files back, or name a checkpoint"


def unlisted(checkpoints: Iterable[SourceCheckpoint], training: TrainRecord) -> list[str]:
    """Return the checkpoints that a training does not list; of an average that it does not list, those in it."""
    names = []
    for checkpoint in checkpoints:
        if checkpoint.sha256 not in training.checkpoints:
            names += unlisted(checkpoint.sources, training) if checkpoint.sources else [checkpoint.file]
    return names


def check(path: Path, checkpoints: Iterable[SourceCheckpoint], file: Path, training: TrainRecord, hint: str) -> None:
    """Refuse a file that was made from checkpoints of another training than the one that `file` records."""
    is_listed = training.checkpoints and training.is_complete  # a training lists all of its own at its end
    if is_listed and (names := unlisted(checkpoints, training)):
        raise UserError(
            f"{path} is of another training than {file}: {', '.join(names)} is none of the checkpoints listed there; "
            f"{hint}"
        )


def check_average(path: Path, training: Path | None = None) -> None:
    """Refuse an average that has changed since its record was written, or that is of another training than its run."""
    record = path.with_name(f"{path.name}.json")
    if not (path.is_file() and record.is_file()):
        return
    average = records.read(record, AverageRecord, HINT)
    previous = average.outputs.get(path.name)
    if previous and not is_same(path, previous):
        raise UserError(f"{path} has changed since {record} was written: {HINT}")
    if training and training.is_file():
        check(path, average.members, training, records.read(training, TrainRecord, HINT), HINT)
