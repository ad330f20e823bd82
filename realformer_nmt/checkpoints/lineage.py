"""Checks that a checkpoint is of a training: train.json lists its hash, or those of the checkpoints it averages."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError

SETTINGS = {"model": None, "criterion": None, "optimizer": None, "optimization": ("lr",), "common": ("seed",)}


def prove_training(path: Path, sha256: str, file: Path, training: TrainRecord) -> bool:
    """Tell whether hashes show that a checkpoint is of the training whose record is `file`.

    Raise a UserError if it is of another training. A record that lists no checkpoint, or not all of them, can show
    neither.
    """
    names = training.checkpoints
    if sha256 in names:
        return True
    state = checkpoint_fields.without_weights(path)
    entry = SourceCheckpoint(
        file=path.name,
        sha256=sha256,
        updates=checkpoint_fields.updates(state),
        averaged=checkpoint_fields.sources(path, state),
    )
    strangers = list(unlisted(entry, names))
    reason = strangers and (contradiction(state, training) or absence(strangers, names, training))
    if reason:
        raise UserError(
            f"{path} is of another training{origin(state)} than {file}: {reason}; "
            "give --training the train.json of its own training, or leave it out"
        )
    return not strangers


def unlisted(entry: SourceCheckpoint, names: Mapping[str, str]) -> Iterator[SourceCheckpoint]:
    """Yield the checkpoints that a checkpoint was averaged from, at any depth, which are not in `names` by hash."""
    if entry.sha256 in names:
        return
    if not entry.sources:
        yield entry
    for source in entry.sources:
        yield from unlisted(source, names)


def contradiction(state: Checkpoint, training: TrainRecord) -> str | None:
    """Return the first setting in which a checkpoint differs from the record of a training."""
    settings = training.made_from.settings
    for group, names in SETTINGS.items():
        for name, value in checkpoint_fields.table(checkpoint_fields.table(state.get("cfg")).get(group)).items():
            setting = group if name == "_name" else name
            recorded = settings.get(setting, value)
            if (names is None or name in names) and value is not None and recorded != value:
                return f"{setting} {value}, there {recorded}"
    return None


def absence(strangers: list[SourceCheckpoint], names: Mapping[str, str], training: TrainRecord) -> str | None:
    """Return why unlisted checkpoints cannot be of a training: its record lists all, once it is complete."""
    files = ", ".join(stranger.file for stranger in strangers)
    reason = f"{files} is none of the {len(set(names.values()))} checkpoints listed there"
    return reason if names and training.is_complete else None


def origin(state: Checkpoint) -> str:
    """Return " (FOLDER)" with the folder where the training saved a checkpoint, if the checkpoint has it."""
    folder = checkpoint_fields.setting(state, "checkpoint", "save_dir")
    return f" ({folder})" if isinstance(folder, str) else ""
