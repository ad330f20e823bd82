"""The record of a tested model: its parts, its training, the checkpoints that it averages."""

from pathlib import Path

from msgspec.structs import asdict, replace

from realformer_nmt.checkpoints import origins
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.checkpoints.model_description import ModelDescription
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.evaluation.run_record import ModelRecord


def describe(path: Path) -> ModelRecord:
    """Return the record of a model."""
    state = checkpoint_fields.load(path)
    description = {**asdict(architecture(path, state)), "updates": checkpoint_fields.updates(state)}
    return ModelRecord(
        **description,
        checkpoint=str(path),
        sha256=sha256(path),
        epochs=checkpoint_fields.epochs(state),
        averaged=origins.sources(path, state),
        seed=checkpoint_fields.setting(state, "common", "seed"),
        wall_clock_hours=training_hours(state),
    )


def architecture(path: Path, state: Checkpoint) -> ModelDescription:
    from realformer_nmt.checkpoints.inspection import arch_of, inspect  # which imports the models

    try:
        return inspect(path)
    except UserError:  # a model that is not of this package
        tensors = {tensor.data_ptr(): tensor.numel() for tensor in state["model"].values()}
        arch = arch_of(checkpoint_fields.options(state))
        description = ModelDescription(arch=arch, parameters=sum(tensors.values()))
        return replace(description, **checkpoint_fields.choices(state))


def training_hours(state: Checkpoint) -> float | None:
    """Return the hours of the training as the checkpoint counts them, with validation and saving."""
    seconds = (state.get("extra_state") or {}).get("previous_training_time")
    return None if seconds is None else float(seconds) / 3600  # of several ranks fairseq saves a tensor
