"""The precisions in which a CPU decodes, the form of the weights in each, and the processors that have it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.kernels.int8 import int8
from realformer_nmt.kernels.matmul import by_onednn, has_onednn, onednn_leads
from realformer_nmt.kernels.native.library import instructions, library
from realformer_nmt.kernels.native.product import NativeBf16, NativeFp32

WIDE = 2**22  # number of weights from which oneDNN's blocks are faster than a transposed matrix, if MKL is the default
# One of these is needed: without it bf16 is emulated, slower than fp32, and int8 overflows in sixteen bits
INSTRUCTIONS = {
    "bf16": ("avx512_bf16", "amx_bf16", "avx10_1"),
    "int8": ("avx512_vnni", "avx_vnni", "amx_int8", "avx10_1"),
}


EXACT = "fp32"


def fp32(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """Return the product with the weight of a layer."""
    kernels = library()
    return Fp32(weight, bias) if kernels is None or not kernels.tiles else NativeFp32(kernels, weight, bias)


class Fp32:
    """x W^T + b, with W in the layout that is fastest for few rows."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        blocks = weight.numel() >= WIDE or onednn_leads(weight.device)
        pack = torch.ops.mkldnn._reorder_linear_weight if blocks else _transposed
        self.weight, self.bias = pack(weight), bias

    def __call__(self, x: Tensor) -> Tensor:
        multiply = by_onednn if self.weight.is_mkldnn else nn.functional.linear
        return multiply(x, self.weight, self.bias)


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


FORMS: dict[str, Callable[[Tensor, Tensor | None], Callable[[Tensor], Tensor]]] = {
    EXACT: fp32,
    "bf16": bf16,
    "int8": int8,
}


def check_supported(precision: str) -> None:
    """Refuse a precision that torch or the processor lacks."""
    if precision != EXACT and not has_onednn():
        raise OptionError(f"decoding in {precision} needs oneDNN, which this torch lacks: leave the precision out")
    if precision not in supported():
        needed = " or ".join(INSTRUCTIONS[precision])
        raise OptionError(
            f"decoding in {precision} needs a processor with {needed}; this one has none of them and decodes in "
            f"{', '.join(supported())}"
        )


def supported() -> tuple[str, ...]:
    """Return the precisions in which this machine decodes; all but fp32 need oneDNN."""
    here = instructions() if has_onednn() else frozenset()
    return tuple(name for name in FORMS if name not in INSTRUCTIONS or here.intersection(INSTRUCTIONS[name]))


def _transposed(weight: Tensor) -> Tensor:
    """Return the same matrix with contiguous columns."""
    return weight.t().contiguous().t()
