"""Products in bf16, by the package's kernel, or else by oneDNN."""

from collections.abc import Callable

import torch
from torch import Tensor

from realformer_nmt.kernels.matmul import by_onednn
from realformer_nmt.kernels.native.library import library
from realformer_nmt.kernels.native.linear16 import NativeBf16
from realformer_nmt.kernels.processor import instructions


def bf16(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """Return the product with the weight of a layer."""
    kernels = library() if "avx512_bf16" in instructions() else None
    return Bf16(weight, bias) if kernels is None else NativeBf16(kernels, weight, bias)


class Bf16:
    """x W^T + b by oneDNN, with x, W, b and the result rounded to bf16, and sums in fp32."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.bfloat16())
        self.bias = None if bias is None else bias.bfloat16()

    def __call__(self, x: Tensor) -> Tensor:
        return by_onednn(x.bfloat16(), self.weight, self.bias).float()
