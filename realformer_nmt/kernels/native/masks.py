"""Dropout by one call, a bit kept for each number. The numbers are those that torch's operations give."""

import struct

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import kernels

A_WORD = 16  # bits


def dropped(x: Tensor, random: Tensor, least: int, scale: float, relu: bool = False) -> tuple[Tensor, Tensor]:
    """scale x, or scale relu(x), where a number of `random`, int16, is `least` or more; and where that is."""
    x = x.contiguous()
    kept = random.new_empty((x.numel() + A_WORD - 1) // A_WORD)
    return _call(x, random.data_ptr(), kept, least, scale, relu), kept


def passed(gradient: Tensor, kept: Tensor, scale: float) -> Tensor:
    """Where `kept` says."""
    return _call(gradient.contiguous(), 0, kept, 0, scale, False)


def _call(x: Tensor, random: int, kept: Tensor, least: int, scale: float, relu: bool) -> Tensor:
    y = torch.empty_like(x)
    places = (random, x.data_ptr(), y.data_ptr(), kept.data_ptr())
    kernels().dropout(*places, x.numel(), least, relu, bits_of(scale), x.element_size(), torch.get_num_threads())
    return y


def bits_of(number: float) -> int:
    """Of a number in fp32, as a whole one."""
    bits: int = struct.unpack("<i", struct.pack("<f", number))[0]
    return bits
