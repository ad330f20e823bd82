"""Checkpoints of any weights, with what fairseq-train stores beside them."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

CFG = {"model": {"_name": "realformer_tiny", "residual_topology": "post"}, "checkpoint": {}}


def save(path: Path, model: dict[str, Tensor], updates: int = 1, **changes: Any) -> Path:
    """A checkpoint as fairseq-train saves it."""
    state = {"args": None, "cfg": CFG, "model": model, "optimizer_history": [{"num_updates": updates}]}
    extra = {"train_iterator": {"epoch": updates + 1, "iterations_in_epoch": 0}, "val_loss": 1.0}
    torch.save({**state, "extra_state": extra, "task_state": {}, "last_optimizer_state": {}, **changes}, path)
    return path
