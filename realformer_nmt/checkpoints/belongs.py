"""Tells by hashes whether a file belongs to a training: each record has those of what it was made from."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from realformer_nmt.checkpoints.average_record import AverageRecord, SourceCheckpoint
from realformer_nmt.checkpoints.run_files import AVERAGE, CURVES, RECORD
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import Fingerprint, StageRecord
from realformer_nmt.common.stages.provenance import is_same
from realformer_nmt.common.stages.stage import AGAIN

HINT = "put the run's own files back, or name a checkpoint"


def unlisted(checkpoints: Iterable[SourceCheckpoint], training: TrainRecord) -> list[str]:
    """Return the checkpoints that a training does not list; of an average that it does not list, those in it."""
    names = []
    for checkpoint in checkpoints:
        if checkpoint.sha256 not in training.checkpoints:
            names += unlisted(checkpoint.sources, training) if checkpoint.sources else [checkpoint.file]
    return names


def strangers(checkpoints: Iterable[SourceCheckpoint], training: TrainRecord) -> list[str]:
    """Return the checkpoints of another training: a training lists all of its own once it is complete."""
    return unlisted(checkpoints, training) if training.checkpoints and training.is_complete else []


def check(path: Path, checkpoints: Iterable[SourceCheckpoint], file: Path, training: TrainRecord, hint: str) -> None:
    """Refuse a file that was made from checkpoints of another training than the one that `file` records."""
    names = strangers(checkpoints, training)
    if names:
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


def foreign_to(training: TrainRecord, folder: Path, average: AverageRecord) -> Iterator[str]:
    """Yield a message for each file in the folder of a training that is of another one."""
    curves = training.outputs.get(CURVES)
    if curves and (folder / CURVES).is_file() and not is_same(folder / CURVES, curves):
        yield f"{CURVES} is of another training than {RECORD}"
    for name in strangers(average.members, training):
        yield f"{AVERAGE}.json is of another training than {RECORD}: {name} is none of its checkpoints"


def inputs(record: Path) -> Mapping[str, Fingerprint]:
    """Return the files that a result was made from, by the names that messages use."""
    return records.read(record, StageRecord, AGAIN).made_from.inputs


def foreign(record: Path, hashes: Mapping[str, str]) -> list[str]:
    """Return a message for each file, by name and hash, that is another than the one that a result was made from."""
    before = inputs(record)
    names = [name for name, sha256 in hashes.items() if name in before and before[name].sha256 != sha256]
    return [f"{record.name} is of another {name}" for name in names]
