"""--stop-time-hours: which hours count, and the end where the command of a complete training is started again."""

import logging
from typing import Any

from fairseq.trainer import Trainer

from realformer_nmt.fairseq_patches.patch import Original, patch, replace
from realformer_nmt.fairseq_patches.training.stop_at_max_update import commands

logger = logging.getLogger(__name__)


@patch(Trainer, "load_checkpoint")
def count_the_hours_of_this_training(
    original: Original, trainer: Trainer, filename: str, reset_optimizer: bool = False, *args: Any, **kwargs: Any
) -> Any:
    """Count hours as updates, from 0 where the optimizer is reset.

    fairseq counts those of --finetune-from-model, too: with --stop-time-hours it trains one update (trainer.py).
    """
    extra_state = original(trainer, filename, reset_optimizer, *args, **kwargs)
    if reset_optimizer:
        trainer._previous_training_time = 0
    return extra_state


def end_at_the_stop_time() -> None:
    """Check --stop-time-hours before the first update: fairseq checks it after one (fairseq_cli/train.py)."""
    for module in commands():
        replace(module, "train", train)


def train(original: Original, cfg: Any, trainer: Any, task: Any, epoch_itr: Any) -> Any:
    # Those of the checkpoint, which all ranks have read; of this session's they have not agreed yet
    hours, limit = trainer._previous_training_time / 3600, cfg.optimization.stop_time_hours
    if not 0 < limit < hours:
        return original(cfg, trainer, task, epoch_itr)
    logger.info("nothing is left to train: %s hours of --stop-time-hours %s", hours, limit)
    return [None], True  # validation losses; whether to stop
