"""Dropout by one call of C, with a mask of one bit per number; results equal those of torch's operations."""

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import built

A_WORD = 16  # bits


def dropped(x: Tensor, random: Tensor, least: int, scale: float, relu: bool = False) -> tuple[Tensor, Tensor]:
    """Return scale x, or scale relu(x), where `random`, int16, is `least` or more, otherwise 0; and the mask's bits."""
    bits = random.new_empty((x.numel() + A_WORD - 1) // A_WORD)
    return _call(x, random, bits, least, scale, relu), bits


def passed(gradient: Tensor, bits: Tensor, scale: float) -> Tensor:
    """Return the scaled gradient where a bit of the mask is set, otherwise 0."""
    return _call(gradient, None, bits, 0, scale, False)


def _call(x: Tensor, random: Tensor | None, bits: Tensor, least: int, scale: float, relu: bool) -> Tensor:
    y: Tensor = built().dropout(
        random=random,
        x=x.contiguous(),
        kept=bits,
        least=least,
        relu=relu,
        scale=scale,
        threads=torch.get_num_threads(),
    )
    return y
