"""--patience of a training that is resumed: validations without an improvement count on."""

from collections.abc import Iterator
from typing import Any

from fairseq.trainer import Trainer

from realformer_nmt.fairseq_patches.patch import Original, patch
from realformer_nmt.fairseq_patches.training.stop_at_max_update import commands

ENTRY = "patience"  # of a checkpoint's extra_state
COUNTED = ("best", "num_runs")  # fairseq's attributes of its function


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
    if extra_state and not reset_optimizer and not kwargs.get("reset_meters"):
        for counts in counters():
            counts.update(extra_state.get(ENTRY, {}))
    return extra_state


def counters() -> Iterator[dict[str, object]]:
    """Yield the attributes of the function that counts, in the command that runs."""
    for module in commands():
        yield vars(module.should_stop_early)
