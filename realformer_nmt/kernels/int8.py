"""Products in int8 by the package's kernel, or else of many rows by oneDNN and of few by fbgemm."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import library
from realformer_nmt.kernels.native.linear8 import NativeInt8
from realformer_nmt.kernels.processor import instructions

LARGEST = 127  # symmetric: -127 to 127
ZERO = 128  # 0 as an unsigned number; for signed ones VNNI without AMX has only oneDNN's slow reference
FEW = 32  # rows up to which fbgemm is faster
WIDE = 2**22  # weights from which it is not, with AMX: reading them takes longest


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


class Form(NamedTuple):
    """Weight in the layout of one library."""

    few: bool | None  # whether it is fbgemm's; None before the first product
    weight: Any


class Int8:
    """y = s t (round(x / s) round(W / t)^T) + b, where s is max|x| / 127 of each row of x, t that of each row of W.

    A row's result depends on that row alone, so that NaN or infinity in one row affects no other. The two libraries may
    round a number half-way between two differently.

    W is stored in one library's form: fbgemm's until there are many rows for the first time, then oneDNN's.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        whole, self.scale = rounded(weight)
        self.zero = torch.zeros(len(weight), dtype=torch.long)
        self.bias, self.small = bias, weight.numel() < WIDE or "amx_int8" not in instructions()
        self.form = Form(None, whole)

    def __call__(self, x: Tensor) -> Tensor:
        form = self.form  # read once: another thread may change it meanwhile
        if form.few is None or (form.few and x.numel() > FEW * x.size(-1)):
            self.form = form = self._laid_out(form, x.numel() // x.size(-1))
        return self._by_fbgemm(x, form.weight) if form.few else self._by_onednn(x, form.weight)

    def _by_onednn(self, x: Tensor, weight: Any) -> Tensor:
        rows = x.flatten(0, -2)  # N x inputs
        largest = torch.maximum(rows.amax(-1, True), rows.amin(-1, True).neg_())  # two passes that only read
        rounded = (rows * (LARGEST / largest)).round_().to(torch.int8)
        whole = torch.ops.onednn.qlinear_pointwise.default(
            rounded.bitwise_xor_(-ZERO).view(torch.uint8),  # plus ZERO: torch's conversion is slow
            *(1 / LARGEST, ZERO, weight, self.scale, self.zero, None, 1.0, 0, torch.float32, "none", [], ""),
        )
        return self._scaled(whole, largest).view(*x.shape[:-1], -1)  # ... x outputs

    def _by_fbgemm(self, x: Tensor, weight: Any) -> Tensor:
        """Multiply with as few operations as possible, since the calls take longer than the arithmetic."""
        largest = x.abs().amax(-1, True)
        return self._scaled(_product_of_few()(x / largest, 1 / LARGEST, ZERO, weight), largest)

    def _scaled(self, whole: Tensor, largest: Tensor) -> Tensor:
        return whole.mul_(largest) if self.bias is None else torch.addcmul(self.bias, whole, largest)

    def _laid_out(self, form: Form, rows: int) -> Form:
        whole = torch.ops.quantized.linear_unpack(form.weight)[0].int_repr() if form.few else form.weight
        few = form.few is None and self.small and rows <= FEW and _fbgemm_leads()
        return Form(few, self._packed(whole) if few else torch.ops.onednn.qlinear_prepack(whole, None))

    def _packed(self, whole: Tensor) -> Any:
        with warnings.catch_warnings(), _engine("fbgemm"):
            warnings.simplefilter("ignore")  # torch announces a successor of this function
            quantised = torch._make_per_channel_quantized_tensor(whole, self.scale.double(), self.zero, 0)
            return torch.ops.quantized.linear_prepack(quantised, None)


@functools.cache
def _fbgemm_leads() -> bool:
    """Tell whether fbgemm can be used: without VNNI its sums overflow in sixteen bits."""
    here = "fbgemm" in torch.backends.quantized.supported_engines and "avx512_vnni" in instructions()
    return here and hasattr(torch, "_make_per_channel_quantized_tensor")


@functools.cache
def _product_of_few() -> Callable[..., Tensor]:
    """Return the operator without torch's checks of its arguments in Python."""
    return torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default._op


@contextmanager
def _engine(name: str) -> Iterator[None]:
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = name
    try:
        yield
    finally:
        torch.backends.quantized.engine = before
