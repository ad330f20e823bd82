"""--amp on a CPU: autocast to bf16, which has the exponents of fp32 and needs no scale of the loss."""

import functools
from typing import Any

import torch
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.tasks.fairseq_task import FairseqTask


def autocast_on_a_cpu() -> None:
    """Autocast with --amp on a CPU, too: fairseq autocasts on CUDA alone, so that --amp --cpu would train in fp32."""
    original = FairseqTask.train_step

    @functools.wraps(original)
    def train_step(
        self: FairseqTask, sample: Any, model: Any, criterion: Any, optimizer: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if isinstance(optimizer, AMPOptimizer) and next(model.parameters()).device.type == "cpu":
            criterion = torch.autocast("cpu", torch.bfloat16)(criterion.__call__)
        return original(self, sample, model, criterion, optimizer, *args, **kwargs)

    FairseqTask.train_step = train_step


def end_where_no_scale_is_left() -> None:
    """End a training without a loss scale after gradients that are not finite, as one at its smallest scale ends.

    fairseq asks for a smaller scale, and fails with an AttributeError where there is none; 0 is below any smallest."""
    original = AMPOptimizer.next_loss_scale.fget

    def next_loss_scale(self: AMPOptimizer) -> float:
        return original(self) if self.scaler.is_enabled() else 0.0

    AMPOptimizer.next_loss_scale = property(next_loss_scale)
