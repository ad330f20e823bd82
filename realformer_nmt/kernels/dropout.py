"""Dropout with cheap random numbers on the CPU, alone or fused with the ReLU before it."""

from collections.abc import Callable
from typing import Any

import torch
from fairseq.modules import FairseqDropout
from torch import Tensor
from torch.autograd.function import once_differentiable

from realformer_nmt.kernels.activations import activation
from realformer_nmt.kernels.native.library import takes
from realformer_nmt.kernels.native.masks import dropped, passed

STEPS = 2**16  # p is rounded to a multiple of 1 / STEPS; the scale is that of the rounded p, so the mean is exact


class Dropout(FairseqDropout):
    """x * keep / (1 - p), each keep 1 with probability 1 - p: Srivastava et al. 2014."""

    def forward(self, x: Tensor, inplace: bool = False) -> Tensor:
        by_torch = not self.applies or x.device.type != "cpu"
        out: Tensor = super().forward(x, inplace) if by_torch else drop(x, self.p)
        return out

    @property
    def applies(self) -> bool:
        return bool(self.p > 0 and (self.training or self.apply_during_inference))


class ActivatedDropout(Dropout):
    """Dropout of activation(x)."""

    def __init__(self, name: str, p: float, module_name: str | None = None) -> None:
        super().__init__(p, module_name)
        self.activation = activation(name)

    def forward(self, x: Tensor, inplace: bool = False) -> Tensor:
        return super().forward(self.activation(x), inplace)


class ReluDropout(ActivatedDropout):
    """Dropout of relu(x); backward reads the mask from the output, which the next layer stores anyway."""

    def forward(self, x: Tensor, inplace: bool = False) -> Tensor:
        return relu_and_drop(x, self.p) if self.applies else super().forward(x, inplace)


class Dropped(torch.autograd.Function):
    """Dropout on the CPU with masks of one byte or one bit per number, drawn from 16 random bits each.

    torch draws Bernoulli numbers one by one, the slowest part of a step after matrix products, and stores floats.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        out, keep, ctx.scale = _drop(x, p)
        ctx.save_for_backward(keep)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (keep,) = ctx.saved_tensors
        return pass_by_mask(gradient, keep, ctx.scale), None


class ReluDropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        if x.device.type == "cpu":
            out, _, ctx.scale = _drop(x, p, relu=True)
        else:
            ctx.scale = 1 / (1 - p)
            out = torch.dropout(torch.relu(x), p, True)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (out,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(gradient, out, 0).mul_(ctx.scale), None


drop: Callable[[Tensor, float], Tensor] = Dropped.apply
relu_and_drop: Callable[[Tensor, float], Tensor] = ReluDropped.apply


def drop_by_mask(x: Tensor, p: float) -> tuple[Tensor, Tensor, float]:
    """Return x after dropout, the mask, and the scale."""
    return _drop(x, p) if x.is_cpu else (*torch.native_dropout(x, p, True), 1 / (1 - p))


def pass_by_mask(x: Tensor, keep: Tensor, scale: float) -> Tensor:
    """Repeat a dropout with its mask and scale."""
    if keep.dtype is torch.int16:
        return passed(x, keep, scale)
    return _masked(x, keep, scale) if x.is_cpu else torch.ops.aten.native_dropout_backward(x, keep, scale)


def _drop(x: Tensor, p: float, relu: bool = False) -> tuple[Tensor, Tensor, float]:
    """Return x, or its ReLU, after dropout, the mask, of one bit or byte per number, and the scale."""
    threshold = min(round(p * STEPS), STEPS - 1)
    scale, least = STEPS / (STEPS - threshold), threshold - STEPS // 2
    words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)  # four numbers each
    random = words.view(torch.int16)[: x.numel()]
    if takes(x):
        return *dropped(x, random, least, scale, relu), scale
    keep = (random.view(x.shape) >= least).view(torch.uint8)
    return _masked(torch.relu(x) if relu else x, keep, scale), keep, scale


def _masked(x: Tensor, keep: Tensor, scale: float) -> Tensor:
    return torch.addcmul(x.new_zeros(()), x, keep.to(x.dtype), value=scale)


ACTIVATED: dict[str, type[ActivatedDropout]] = {"relu": ReluDropout}
