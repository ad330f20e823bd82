"""Products in eight bits: by our own kernel; else of many rows by oneDNN, of few by fbgemm, which starts sooner."""

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
ZERO = 128  # what 0 is without a sign: of numbers with one, VNNI without AMX has no product but oneDNN's reference
FEW = 32  # rows up to which fbgemm is the faster,
WIDE = 2**22  # and weights from which on it is not where there is AMX: to read them takes longest


def int8(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """The product with W of a layer."""
    kernels = library()
    return Int8(weight, bias) if kernels is None else NativeInt8(kernels, *rounded(weight), bias)


def rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """round(W / t), outputs x inputs, and t."""
    scale = weight.abs().amax(1, True).clamp_(min=torch.finfo(torch.float32).tiny) / LARGEST  # outputs x 1
    return (weight / scale).round_().to(torch.int8), scale.flatten()


class Form(NamedTuple):
    few: bool | None  # whether it is fbgemm's; unknown before rows come
    weight: Any


class Int8:
    """y = s t (round(x / s) round(W / t)^T) + b, where s is max|x| / 127 of each row of x, t that of each row of W.

    A row's result depends on that row alone, and a row that is NaN or infinite spoils no other. By the other library
    what lies half-way between two numbers may be rounded to the other one.

    W is kept in one library's form: fbgemm's as long as few rows come, oneDNN's for good from the first time that many
    do."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        whole, self.scale = rounded(weight)
        self.zero = torch.zeros(len(weight), dtype=torch.long)
        self.bias, self.small = bias, weight.numel() < WIDE or "amx_int8" not in instructions()
        self.form = Form(None, whole)

    def __call__(self, x: Tensor) -> Tensor:
        form = self.form  # one object: another thread may lay the weights out anew meanwhile
        if form.few is None or (form.few and x.numel() > FEW * x.size(-1)):
            self.form = form = self._laid_out(form, x.numel() // x.size(-1))
        return self._by_fbgemm(x, form.weight) if form.few else self._by_onednn(x, form.weight)

    def _by_onednn(self, x: Tensor, weight: Any) -> Tensor:
        rows = x.flatten(0, -2)  # N x inputs
        largest = torch.maximum(rows.amax(-1, True), rows.amin(-1, True).neg_())  # two passes that only read
        rounded = (rows * (LARGEST / largest)).round_().to(torch.int8)
        whole = torch.ops.onednn.qlinear_pointwise.default(
            rounded.bitwise_xor_(-ZERO).view(torch.uint8),  # plus ZERO: torch's own conversion takes long
            *(1 / LARGEST, ZERO, weight, self.scale, self.zero, None, 1.0, 0, torch.float32, "none", [], ""),
        )
        return self._scaled(whole, largest).view(*x.shape[:-1], -1)  # ... x outputs

    def _by_fbgemm(self, x: Tensor, weight: Any) -> Tensor:
        """With as few operations as can be, since each takes longer than what it computes."""
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
            warnings.simplefilter("ignore")  # torch announces another library for it
            quantised = torch._make_per_channel_quantized_tensor(whole, self.scale.double(), self.zero, 0)
            return torch.ops.quantized.linear_prepack(quantised, None)


@functools.cache
def _fbgemm_leads() -> bool:
    """Elsewhere its sums overflow in sixteen bits."""
    here = "fbgemm" in torch.backends.quantized.supported_engines and "avx512_vnni" in instructions()
    return here and hasattr(torch, "_make_per_channel_quantized_tensor")


@functools.cache
def _product_of_few() -> Callable[..., Tensor]:
    """Without what torch asks in Python of every argument."""
    return torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default._op


@contextmanager
def _engine(name: str) -> Iterator[None]:
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = name
    try:
        yield
    finally:
        torch.backends.quantized.engine = before
