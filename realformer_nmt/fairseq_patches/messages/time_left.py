"""The line that says how far a training is and how long the rest will take."""

import logging
import math
import time
from datetime import timedelta
from typing import Any

from realformer_nmt.fairseq_patches.patch import Original, replace
from realformer_nmt.fairseq_patches.training.end_of_training import commands

FIRST, LONGEST = 5.0, 600.0  # seconds to the first line, and most between two
logger = logging.getLogger(__name__)


def log_the_time_left() -> None:
    """Log the updates done of all and the time left, seconds after the start and then less and less often.

    fairseq logs a line per 100 updates, without the end (fairseq_cli/train.py).
    """
    clock = Clock()
    for module in commands():
        replace(module, "validate_and_save", clock.validate_and_save)


class Clock:
    """The first update that a process made, which also sets up the model, and when the next line is due after it."""

    def __init__(self) -> None:
        self.trainer: Any = None

    def validate_and_save(
        self, original: Original, cfg: Any, trainer: Any, task: Any, epoch_itr: Any, *args: Any
    ) -> Any:
        updates, now = trainer.get_num_updates(), time.monotonic()
        if trainer is not self.trainer:
            self.trainer, self.first, self.start, self.due = trainer, updates, now, FIRST
        seconds = now - self.start
        rest = updates_left(cfg, updates, epoch_itr)
        if seconds >= self.due and updates > self.first and math.isfinite(rest):
            self.due = seconds + min(seconds, LONGEST)
            remaining = timedelta(seconds=round(rest * seconds / (updates - self.first)))
            logger.info(f"update {updates:,} of {updates + rest:,}; time left: about {remaining}")
        return original(cfg, trainer, task, epoch_itr, *args)


def updates_left(cfg: Any, updates: int, epoch_itr: Any) -> float:
    """Return the updates to the first of --max-update and --max-epoch, which other options may end earlier."""
    frequency = cfg.optimization.update_freq[-1]
    epochs = (cfg.optimization.max_epoch or math.inf) - epoch_itr.epoch
    in_epoch = math.ceil((len(epoch_itr) - epoch_itr.iterations_in_epoch) / frequency)
    by_epochs = epochs * math.ceil(len(epoch_itr) / frequency) + in_epoch
    rest: float = min((cfg.optimization.max_update or math.inf) - updates, by_epochs)
    return rest
