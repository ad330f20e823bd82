"""Products in int8 by the package's kernel, or else by oneDNN."""

from collections.abc import Callable

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import library
from realformer_nmt.kernels.native.product import ZERO, NativeInt8

LARGEST = 127  # symmetric: -127 to 127


def int8(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """Return the product with the weight of a layer."""
    kernels = library()
    if kernels is None:
        return Int8(weight, bias)
    whole, scale = rounded(weight)
    return NativeInt8(kernels, whole, scale, bias)


def rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return round(W / t), outputs x inputs, and t."""
    scale = weight.abs().amax(1, True).clamp_(min=torch.finfo(torch.float32).tiny) / LARGEST  # outputs x 1
    return (weight / scale).round_().to(torch.int8), scale.flatten()


class Int8:
    """y = s t (round(x / s) round(W / t)^T) + b, where s is max|x| / 127 of each row of x, t that of each row of W.

    A row's result depends on that row alone, so that NaN or infinity in one row affects no other. oneDNN's products of
    signed numbers are slow without AMX: those of x are unsigned.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        whole, self.scale = rounded(weight)
        self.weight = torch.ops.onednn.qlinear_prepack(whole, None)
        self.zero = torch.zeros(len(weight), dtype=torch.long)
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, -2)  # N x inputs
        largest = torch.maximum(rows.amax(-1, True), rows.amin(-1, True).neg_())  # two passes that only read
        rounded = (rows * (LARGEST / largest)).round_().to(torch.int8)
        whole = torch.ops.onednn.qlinear_pointwise.default(
            rounded.bitwise_xor_(-ZERO).view(torch.uint8),  # plus ZERO: torch's conversion is slow
            *(1 / LARGEST, ZERO, self.weight, self.scale, self.zero, None, 1.0, 0, torch.float32, "none", [], ""),
        )
        y = whole.mul_(largest) if self.bias is None else torch.addcmul(self.bias, whole, largest)
        return y.view(*x.shape[:-1], -1)  # ... x outputs
