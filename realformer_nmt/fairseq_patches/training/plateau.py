"""--lr-scheduler reduce_lr_on_plateau in a training that is resumed."""

from collections.abc import Mapping
from typing import Any

from fairseq.optim.lr_scheduler.reduce_lr_on_plateau import ReduceLROnPlateauLRSchedule
from fairseq.trainer import Trainer

from realformer_nmt.fairseq_patches.patch import Original, patch, replace

COUNTED = "num_bad_epochs"  # torch's name


def resume_with_the_epochs_of_lr_patience() -> None:
    """Save the number of epochs without an improvement: fairseq counts those of --lr-patience from 0 once resumed."""
    replace(ReduceLROnPlateauLRSchedule, "state_dict", with_epochs)
    replace(ReduceLROnPlateauLRSchedule, "load_state_dict", load_epochs)


def with_epochs(original: Original, schedule: ReduceLROnPlateauLRSchedule) -> dict[str, object]:
    return {**original(schedule), COUNTED: schedule.lr_scheduler.num_bad_epochs}


def load_epochs(original: Original, schedule: ReduceLROnPlateauLRSchedule, state: Mapping[str, Any]) -> None:
    original(schedule, state)
    schedule.lr_scheduler.num_bad_epochs = state.get(COUNTED, 0)


@patch(Trainer, "load_checkpoint")
def follow_the_last_validation(
    original: Original,
    trainer: Trainer,
    filename: str,
    reset_optimizer: bool = False,
    reset_lr_scheduler: bool = False,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Change the learning rate by the validation of the epoch after which a training is resumed.

    fairseq saves the checkpoint before it changes the rate, and never does so once resumed (fairseq_cli/train.py).
    """
    extra_state = original(trainer, filename, reset_optimizer, reset_lr_scheduler, *args, **kwargs)
    resumed = extra_state and not reset_optimizer and not reset_lr_scheduler
    if resumed and isinstance(trainer.lr_scheduler, ReduceLROnPlateauLRSchedule):
        place, loss = extra_state["train_iterator"], extra_state.get("val_loss")
        if place.get("iterations_in_epoch") == 0:
            trainer.lr_step(place["epoch"] - 1, loss)
    return extra_state
