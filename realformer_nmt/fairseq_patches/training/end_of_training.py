"""The end of a training at --max-update or --patience, also where its command is started again."""

import logging
import math
import sys
from collections.abc import Iterator
from typing import Any

from fairseq.trainer import Trainer

from realformer_nmt.fairseq_patches.patch import Original, patch, replace

COMMAND = "fairseq_cli.train"
ENTRY = "patience"  # of a checkpoint's extra_state
COUNTED = ("best", "num_runs")  # fairseq's attributes of its function
logger = logging.getLogger(__name__)


@patch(Trainer, "state_dict")
def save_the_patience(original: Original, trainer: Trainer) -> Any:
    """Save the best validation of --patience, and the number of those since.

    fairseq counts in an attribute of a function, so that a resumed training begins at 0 (fairseq_cli/train.py).
    """
    state = original(trainer)
    for counts in counters():
        state["extra_state"][ENTRY] = {name: counts[name] for name in COUNTED if name in counts}
    return state


@patch(Trainer, "load_checkpoint")
def resume_with_the_patience(
    original: Original, trainer: Trainer, filename: str, reset_optimizer: bool = False, *args: Any, **kwargs: Any
) -> Any:
    """Count on from a checkpoint's validations without an improvement.

    fairseq begins again at 0. Finetuning, --reset-optimizer and --reset-meters do so here, too.
    """
    extra_state = original(trainer, filename, reset_optimizer, *args, **kwargs)
    resumes = extra_state and not reset_optimizer and not kwargs.get("reset_meters")
    for counts in counters():
        counts.update(extra_state.get(ENTRY, {}) if resumes else {})
    return extra_state


def end_before_the_first_update() -> None:
    """Check `--max-update` and `--patience` before the first update: fairseq checks the one after an update, the other
    after an epoch (fairseq_cli/train.py)."""
    for module in commands():
        replace(module, "train", train)


def train(original: Original, cfg: Any, trainer: Any, task: Any, epoch_itr: Any) -> Any:
    updates, most = trainer.get_num_updates(), cfg.optimization.max_update or math.inf
    patience, count = cfg.checkpoint.patience, max((counts.get("num_runs", 0) for counts in counters()), default=0)
    if updates < most and not 0 < patience <= count:
        return original(cfg, trainer, task, epoch_itr)
    reached = f"validations without an improvement: {count} of --patience {patience}"
    logger.info("nothing is left to train: %s", f"{updates} updates of {most}" if updates >= most else reached)
    return [None], True  # validation losses; whether to stop


def commands() -> Iterator[Any]:
    """Yield the module of fairseq-train, wherever it is loaded."""
    for module in (sys.modules.get(COMMAND), sys.modules.get("__main__")):  # the latter where python -m runs it
        if getattr(getattr(module, "__spec__", None), "name", None) == COMMAND:
            yield module


def counters() -> Iterator[dict[str, float]]:
    """Yield the attributes of the function that counts, in the command that runs."""
    for module in commands():
        yield vars(module.should_stop_early)
