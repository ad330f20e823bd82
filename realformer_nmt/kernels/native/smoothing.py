"""The label-smoothed loss by one call."""

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import kernels
from realformer_nmt.kernels.native.masks import bits_of


def replace_by_gradient(logits: Tensor, target: Tensor, peak: float, uniform: float, padding: int) -> Tensor:
    """Loss and nll of each row, 2 x n, in fp32; logits, n x V, become their gradient. A padded row has neither."""
    rows, words = logits.shape
    known = target.dtype is torch.int64 and bool(((target >= 0) & (target < words)).all())
    if not known or target.shape != (rows,) or not logits.is_contiguous():
        raise ValueError(f"rows of {words} logits side by side and a word of these for each are wanted")
    target = target.contiguous()
    losses = torch.empty(2, rows)
    places = (logits.data_ptr(), target.data_ptr(), losses.data_ptr())
    shares = (bits_of(peak), bits_of(uniform))
    kernels().smoothed_loss(*places, rows, words, padding, *shares, logits.element_size(), torch.get_num_threads())
    return losses
