"""A --user-dir of someone's own on top of the plug-in: every rank leaves its parameters beside the checkpoints."""

import functools
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils

import realformer_nmt

PLUG_IN = realformer_nmt.__version__
original = checkpoint_utils.save_checkpoint


@functools.wraps(original)
def save_checkpoint(cfg: Any, trainer: Any, *args: Any, **kwargs: Any) -> Any:
    folder = Path(cfg.save_dir)
    folder.mkdir(exist_ok=True)
    rank = f"rank{distributed_utils.get_global_rank()}of{distributed_utils.get_global_world_size()}.pt"
    torch.save({"model": trainer.get_model().state_dict()}, folder / rank)
    return original(cfg, trainer, *args, **kwargs)


checkpoint_utils.save_checkpoint = save_checkpoint
