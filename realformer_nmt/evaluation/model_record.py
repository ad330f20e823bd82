"""Entry of a model in run.json: its parts, its training, the checkpoints that it averages."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints import checkpoint_fields, validation
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.text_lines import sha256


def describe(path: Path, translated: str) -> dict[str, Any]:
    """Return a model's entry; `translated` is the sha256 of the checkpoint that translated."""
    state = checkpoint_fields.load(path)
    digest = sha256(path)
    if translated != digest:
        raise UserError(f"{path} is another than the one that translated: translate again")
    extra = state.get("extra_state") or {}
    history = validation.history([(validation.stored(state), validation.meters(state))])
    averaged = extra.get("averaged", [])
    return {
        "checkpoint": str(path),
        "sha256": digest,
        **architecture(path, state),
        "epochs": checkpoint_fields.epochs(state),
        "updates": checkpoint_fields.updates(state),
        "averaged": averaged,
        "validation": mean_scores([member["validation"] for member in averaged] or history),
        "seed": checkpoint_fields.setting(state, "common", "seed"),
        **hours(state),
    }


def architecture(path: Path, state: dict[str, Any]) -> dict[str, Any]:
    from realformer_nmt.checkpoints.inspection import inspect  # which imports the models

    try:
        parts = inspect(path)
    except UserError:  # a model that is not of this package
        options = checkpoint_fields.options(state)
        tensors = {tensor.data_ptr(): tensor.numel() for tensor in state["model"].values()}
        arch = options.get("_name") or options.get("arch")
        return {"arch": arch, **checkpoint_fields.choices(state), "parameters": sum(tensors.values())}
    return {name: value for name, value in parts.items() if name != "updates"}


def mean_scores(members: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return each validation score's mean over the checkpoints that have it; their average has none of its own."""
    scores: dict[str, list[float]] = defaultdict(list)
    for member in members:
        for name, value in member.items():
            scores[name].append(value)
    return {name: {"mean": sum(values) / len(values), "checkpoints": len(values)} for name, values in scores.items()}


def hours(state: dict[str, Any]) -> dict[str, Any]:
    """Return the hours of the training as the checkpoint counts them, with validation and saving."""
    seconds = (state.get("extra_state") or {}).get("previous_training_time")
    if seconds is None:
        return {"wall_clock_hours": None, "gpu_hours": None}
    cpu = checkpoint_fields.setting(state, "common", "cpu")
    gpus = 0 if cpu else checkpoint_fields.setting(state, "distributed_training", "distributed_world_size")
    return {"wall_clock_hours": seconds / 3600, "gpu_hours": gpus and gpus * seconds / 3600}
