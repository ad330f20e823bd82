"""--amp on a CPU: autocast to bf16, which has the exponents of fp32 and needs no scale of the loss."""

from typing import Any

import torch
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.tasks.fairseq_task import FairseqTask

from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(FairseqTask, "train_step")
def autocast_on_a_cpu(
    original: Original, task: Any, sample: Any, model: Any, criterion: Any, optimizer: Any, *args: Any, **kwargs: Any
) -> Any:
    """Autocast with --amp on a CPU: fairseq trains in fp32 there."""
    if isinstance(optimizer, AMPOptimizer) and next(model.parameters()).device.type == "cpu":
        criterion = torch.autocast("cpu", torch.bfloat16)(criterion.__call__)
    return original(task, sample, model, criterion, optimizer, *args, **kwargs)


def end_where_no_scale_is_left() -> None:
    """End a training without a loss scale after gradients that are not finite.

    fairseq fails with an AttributeError. It asks for a smaller scale; here 0 stands for one, below any smallest.
    """
    original = AMPOptimizer.next_loss_scale.fget

    def next_loss_scale(self: AMPOptimizer) -> float:
        return original(self) if self.scaler.is_enabled() else 0.0

    AMPOptimizer.next_loss_scale = property(next_loss_scale)
