"""Checks that a run's average is unchanged, and that it was made from checkpoints of the run's training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realformer_nmt.common import checksummed_json
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.provenance import MADE_FROM, fingerprint
from realformer_nmt.common.stage_record import OUTPUTS

LISTED = "checkpoints"  # key of train.json: the name of each checkpoint that the training wrote, by its hash
TRAINING = "train.json"
HINT = "put the run's own files back, or name a checkpoint"


def listed(training: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the checkpoints in a training's record, by their hashes."""
    outputs = training.get(OUTPUTS, {}).items()
    remaining = {file["sha256"]: Path(name).name for name, file in outputs if name.endswith(".pt")}
    return {**training.get(LISTED, {}), **remaining}


def strangers(average: Mapping[str, Any], training: Mapping[str, Any]) -> list[str]:
    """Return the inputs of an average that a training does not list; none if it is not complete or lists nothing."""
    names = listed(training) if training.get("complete") is True else {}
    inputs = average.get(MADE_FROM, {}).get("inputs", {})
    return [name for name, file in inputs.items() if names and file["sha256"] not in names]


def check_average(path: Path, training: Path | None = None) -> None:
    """Refuse an average that has changed since its record was written, or that is of another training than its run."""
    record = path.with_name(f"{path.name}.json")
    if not (path.is_file() and record.is_file()):
        return
    average = checksummed_json.read(record, HINT)
    with expected(record, HINT):
        previous = average.get(OUTPUTS, {}).get(path.name)
        if previous and fingerprint(path, previous)["sha256"] != previous["sha256"]:
            raise UserError(f"{path} is another file than {record} says was made: {HINT}")
    if training and training.is_file():
        check_origin(path, average, training)


def check_origin(path: Path, average: Mapping[str, Any], training: Path) -> None:
    """Refuse an average with an input that the training's record does not list."""
    record = checksummed_json.read(training, HINT)
    with expected(training, HINT):
        names = strangers(average, record)
    if names:
        raise UserError(
            f"{path} is of another training than {training}: {', '.join(names)} is none of the checkpoints listed "
            f"there; {HINT}"
        )
