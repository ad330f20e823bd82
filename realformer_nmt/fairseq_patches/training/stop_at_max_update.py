"""The end at --max-update, also where the command of a complete training is started again."""

import logging
import math
import sys
from collections.abc import Iterator
from typing import Any

from realformer_nmt.fairseq_patches.patch import Original, replace

COMMAND = "fairseq_cli.train"
logger = logging.getLogger(__name__)


def end_at_max_update() -> None:
    """Check --max-update before the first update: fairseq checks it after one (fairseq_cli/train.py)."""
    for module in commands():
        replace(module, "train", train)


def commands() -> Iterator[Any]:
    """Yield the module of fairseq-train, wherever it is loaded."""
    for module in (sys.modules.get(COMMAND), sys.modules.get("__main__")):  # the latter where python -m runs it
        if getattr(getattr(module, "__spec__", None), "name", None) == COMMAND:
            yield module


def train(original: Original, cfg: Any, trainer: Any, task: Any, epoch_itr: Any) -> Any:
    number, limit = trainer.get_num_updates(), cfg.optimization.max_update or math.inf
    if number < limit:
        return original(cfg, trainer, task, epoch_itr)
    logger.info("nothing is left to train: %s updates of %s", number, limit)
    return [None], True  # validation losses; whether to stop
