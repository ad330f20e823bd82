"""What run.json says of a translation's model: its parts, its training, the checkpoints it averages."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints import layout, validation
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.text_lines import sha256


def describe(path: Path, translated: str) -> dict[str, Any]:
    """`translated` is the sha256 of the checkpoint that translated."""
    state = layout.load(path)
    digest = sha256(path)
    if translated != digest:
        raise UserError(f"{path} is another than the one that translated: translate again")
    extra = state.get("extra_state") or {}
    own = validation.history([(validation.stored(state), validation.meters(state))])
    averaged = extra.get("averaged", [])
    return {
        "checkpoint": str(path),
        "sha256": digest,
        **architecture(path, state),
        "epochs": layout.epochs(state),
        "updates": layout.updates(state),
        "averaged": averaged,
        "validation": validated([member["validation"] for member in averaged] or own),
        "seed": layout.setting(state, "common", "seed"),
        **hours(state),
    }


def architecture(path: Path, state: dict[str, Any]) -> dict[str, Any]:
    from realformer_nmt.checkpoints.inspection import inspect  # which imports the models

    try:
        found = inspect(path)
    except UserError:  # a model that is not of this package
        options = layout.options(state)
        tensors = {tensor.data_ptr(): tensor.numel() for tensor in state["model"].values()}
        arch = options.get("_name") or options.get("arch")
        return {"arch": arch, **layout.choices(state), "parameters": sum(tensors.values())}
    return {name: value for name, value in found.items() if name != "updates"}


def validated(members: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Of those checkpoints that know the score; that of their average itself is not known to any."""
    found: dict[str, list[float]] = defaultdict(list)
    for member in members:
        for name, value in member.items():
            found[name].append(value)
    return {name: {"mean": sum(values) / len(values), "checkpoints": len(values)} for name, values in found.items()}


def hours(state: dict[str, Any]) -> dict[str, Any]:
    """As the checkpoint counts them: the time of training, validation and saving included."""
    seconds = (state.get("extra_state") or {}).get("previous_training_time")
    if seconds is None:
        return {"wall_clock_hours": None, "gpu_hours": None}
    cpu = layout.setting(state, "common", "cpu")
    gpus = 0 if cpu else layout.setting(state, "distributed_training", "distributed_world_size")
    return {"wall_clock_hours": seconds / 3600, "gpu_hours": gpus and gpus * seconds / 3600}
