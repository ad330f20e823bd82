"""Checks that a run's average is unchanged, and that it was made from checkpoints of the run's training."""

from pathlib import Path

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.provenance import is_same

HINT = "put the run's own files back, or name a checkpoint"


def strangers(average: AverageRecord, training: TrainRecord) -> list[str]:
    """Return the inputs of an average that a training does not list; none if it is not complete or lists nothing."""
    names = training.checkpoints if training.is_complete else {}
    return [name for name, file in average.made_from.inputs.items() if names and file.sha256 not in names]


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
        names = strangers(average, records.read(training, TrainRecord, HINT))
        if names:
            raise UserError(
                f"{path} is of another training than {training}: {', '.join(names)} is none of the checkpoints listed "
                f"there; {HINT}"
            )
