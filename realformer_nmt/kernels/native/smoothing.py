"""The label-smoothed loss and its gradient, computed by a single call of C."""

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import built


def replace_by_gradient(logits: Tensor, target: Tensor, peak: float, uniform: float, padding: int) -> Tensor:
    """Return loss and negative log-likelihood of each row, 2 x rows in fp32, and overwrite logits by their gradient.

    The formula is that of SmoothedNLL (training/fused_loss.py), with peak = 1 - e - e' and uniform = e'.

    logits   rows x words, contiguous, float32 or bfloat16
    target   rows, int64: the right word of each row; if it is `padding`, both losses and the gradient are 0
    """
    losses = logits.new_empty(2, len(logits), dtype=torch.float32)
    built().smoothed_loss(
        logits=logits,
        target=target.contiguous(),
        losses=losses,
        padding=padding,
        peak=peak,
        uniform=uniform,
        threads=torch.get_num_threads(),
    )
    return losses
