"""Linear layers that read their weights faster when a CPU decodes: a few rows at a time, always the same weights."""

import functools
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

WIDE = 2**22  # weights from which on oneDNN's blocks are better than a transposed matrix on an Intel too


class Linear(nn.Linear):
    """torch's; for decoding it keeps a copy of its weights, laid out as the product of few rows wants them."""

    _copy: tuple[Tensor, int, int] | None = None

    def make_generation_fast_(self, **_kwargs: Any) -> None:
        weight = self.weight.detach()
        if weight.device.type == "cpu" and weight.dtype == torch.float32 and torch.backends.mkldnn.is_available():
            transposed = on_intel() and weight.numel() < WIDE
            lay = _transposed if transposed else torch.ops.mkldnn._reorder_linear_weight
            self._copy = lay(weight), *_state(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        if self._copy is None or torch.is_grad_enabled() or self._copy[1:] != _state(self.weight):
            return super().forward(x)
        weight = self._copy[0]
        if weight.is_mkldnn:
            return torch.ops.mkldnn._linear_pointwise.default(x, weight, self.bias, "none", [], "")
        return nn.functional.linear(x, weight, self.bias)


@functools.cache
def on_intel() -> bool:
    """Where MKL, which torch's products come from, has its best code."""
    processors = Path("/proc/cpuinfo")
    return processors.exists() and "GenuineIntel" in processors.read_text("utf-8")


def _transposed(weight: Tensor) -> Tensor:
    """The same matrix, its columns contiguous."""
    return weight.t().contiguous().t()


def _state(weight: Tensor) -> tuple[int, int]:
    """Weights that were written to, moved or cast since have another version or address."""
    return weight._version, weight.data_ptr()
