"""--amp: on a CPU autocast to bf16, which has the exponents of fp32 and needs no scale of the loss."""

import logging
from collections.abc import Mapping
from typing import Any

import torch
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.tasks.fairseq_task import FairseqTask
from fairseq.tasks.multilingual_translation import MultilingualTranslationTask

from realformer_nmt.fairseq_patches.patch import Original, patch, replace

logger = logging.getLogger(__name__)
WINDOW = 2000  # updates, as torch has it
SCALE = "amp_scale"  # in the optimiser's state
OF_SCALE = ("scale", "_growth_tracker")  # beside its settings, which are those of the command line


def autocast_train_steps() -> None:
    """Autocast with --amp on a CPU, and in `--task multilingual_translation` on any device.

    fairseq trains in fp32 there.
    """
    for task in (FairseqTask, MultilingualTranslationTask):
        replace(task, "train_step", _train_step)


def _train_step(
    original: Original, task: Any, sample: Any, model: Any, criterion: Any, optimizer: Any, *args: Any, **kwargs: Any
) -> Any:
    if isinstance(optimizer, AMPOptimizer):
        autocast = torch.autocast(next(model.parameters()).device.type)  # to fp16 on a GPU, on a CPU to bf16
        criterion = autocast(criterion.__call__)
    return original(task, sample, model, criterion, optimizer, *args, **kwargs)


def end_where_no_scale_is_left() -> None:
    """End a training without a loss scale after gradients that are not finite.

    fairseq fails with an AttributeError. It asks for a smaller scale; here 0 stands for one, below any smallest.
    """
    original = AMPOptimizer.next_loss_scale.fget

    def next_loss_scale(self: AMPOptimizer) -> float:
        return original(self) if self.scaler.is_enabled() else 0.0

    AMPOptimizer.next_loss_scale = property(next_loss_scale)


@patch(AMPOptimizer, "step")
def undo_the_loss_scale_once(_: Original, optimizer: AMPOptimizer) -> None:
    """Divide gradients by the loss scale once.

    fairseq does so twice, once for torch's optimiser and once for its own around it, which GradScaler takes for another
    (optim/amp_optimizer.py). SGD's steps become smaller by the scale, and Adam's epsilon outweighs its gradients.
    """
    optimizer.scaler.step(optimizer.optimizer)  # the one that clip_grad_norm names
    optimizer.scaler.update()


@patch(AMPOptimizer, "__init__")
def take_the_options_of_the_loss_scale(
    original: Original, optimizer: AMPOptimizer, cfg: Any, *args: Any, **kwargs: Any
) -> None:
    """Begin with --amp-init-scale, and double the scale after --amp-scale-window updates.

    fairseq begins with --fp16-init-scale, and takes --amp-init-scale for the window (optim/amp_optimizer.py).
    """
    original(optimizer, cfg, *args, **kwargs)
    state = optimizer.scaler.state_dict()
    if state:  # there is a scale
        window = cfg.common.amp_scale_window or WINDOW
        optimizer.scaler.load_state_dict({**state, "scale": cfg.common.amp_init_scale, "growth_interval": window})


def resume_with_the_loss_scale() -> None:
    """Save the loss scale of --amp: without it a resumed run begins with the first one."""
    replace(AMPOptimizer, "state_dict", with_scale)
    replace(AMPOptimizer, "load_state_dict", load_scale)


def with_scale(original: Original, optimizer: AMPOptimizer) -> dict[str, object]:
    state = optimizer.scaler.state_dict()
    return {**original(optimizer), SCALE: {name: state[name] for name in OF_SCALE if name in state}}


def load_scale(
    original: Original, optimizer: AMPOptimizer, state: Mapping[str, Any], *args: Any, **kwargs: Any
) -> None:
    original(optimizer, {name: value for name, value in state.items() if name != SCALE}, *args, **kwargs)
    if not state.get(SCALE) and optimizer.scaler.is_enabled():
        logger.warning(
            "the optimizer's state is of gradients divided twice by the loss scale: its first steps are larger"
        )
    if state.get(SCALE):
        optimizer.scaler.load_state_dict({**optimizer.scaler.state_dict(), **state[SCALE]})
