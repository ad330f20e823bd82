"""Checkpoints as fairseq-train saves them, of models that nobody trained: made in a moment."""

from pathlib import Path
from typing import Any

import torch
from fairseq import tasks
from omegaconf import OmegaConf

from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.protocols.running import updates

OPTIMISER = ("--optimizer", "adam", "--lr", "0.001", "--max-tokens", "500", "--max-update", "1")
SIZE = ("--share-all-embeddings", "--encoder-layers", "1", "--decoder-layers", "1")


def state(data: Path, *flags: str, arch: str = "realformer_tiny", size: tuple[str, ...] = SIZE) -> dict[str, Any]:
    cfg = updates.parse([str(data), "--arch", arch, *OPTIMISER, *size, *flags])
    with quiet():
        task = tasks.setup_task(cfg.task)
    torch.manual_seed(1)
    model = task.build_model(cfg.model)
    extra = {"train_iterator": {"epoch": 2, "iterations_in_epoch": 0, "shuffle": True}, "val_loss": 2.5, "metrics": {}}
    return {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        "criterion": None,
        "optimizer_history": [{"num_updates": 3, "criterion_name": "CrossEntropyCriterion", "lr_scheduler_state": {}}],
        "task_state": task.state_dict(),
        "extra_state": extra,
        "last_optimizer_state": None,
    }


def save(path: Path, content: dict[str, Any]) -> Path:
    torch.save(content, path)
    return path
