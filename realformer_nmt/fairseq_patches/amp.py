"""--amp on a CPU: autocast to bf16, which has the exponents of fp32 and needs no scale of the loss."""

import functools
from typing import Any

import torch
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.tasks.fairseq_task import FairseqTask


def autocast_on_a_cpu() -> None:
    """fairseq autocasts on CUDA alone, which torch leaves out where there is none: --amp --cpu trained in fp32."""
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
    """After gradients that are not finite fairseq asks for a smaller scale of the loss, and failed where there is none
    (AttributeError); 0 is below any smallest scale, so that the training ends as it does at that one."""
    original = AMPOptimizer.next_loss_scale.fget

    def next_loss_scale(self: AMPOptimizer) -> float:
        return original(self) if self.scaler.is_enabled() else 0.0

    AMPOptimizer.next_loss_scale = property(next_loss_scale)
