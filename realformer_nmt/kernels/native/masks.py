"""Dropout by one call, a bit kept for each number. The numbers are those that torch's operations give."""

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import kernels

A_WORD = 16  # bits


def dropped(x: Tensor, random: Tensor, least: int, scale: float, relu: bool = False) -> tuple[Tensor, Tensor]:
    """scale x, or scale relu(x), where a number of `random`, int16, is `least` or more; and where that is."""
    kept = random.new_empty((x.numel() + A_WORD - 1) // A_WORD)
    return _call(x, random, kept, least, scale, relu), kept


def passed(gradient: Tensor, kept: Tensor, scale: float) -> Tensor:
    """Where `kept` says."""
    return _call(gradient, None, kept, 0, scale, False)


def _call(x: Tensor, random: Tensor | None, kept: Tensor, least: int, scale: float, relu: bool) -> Tensor:
    y: Tensor = kernels().dropout(
        random=random,
        x=x.contiguous(),
        kept=kept,
        least=least,
        relu=relu,
        scale=scale,
        threads=torch.get_num_threads(),
    )
    return y
