"""Linear layers that read their weights faster when a CPU decodes: a few rows at a time, always the same weights."""

from typing import Any

import torch
from torch import Tensor, nn

from realformer_nmt.product import by_onednn, onednn_leads, product

WIDE = 2**22  # weights from which on oneDNN's blocks are better than a transposed matrix where it does not lead


class Linear(nn.Linear):
    """torch's; for decoding it keeps a copy of its weights, laid out as the product of few rows wants them."""

    _copy: tuple[Tensor, int, int] | None = None

    def make_generation_fast_(self, **_kwargs: Any) -> None:
        weight = self.weight.detach()
        if weight.device.type == "cpu" and weight.dtype == torch.float32 and torch.backends.mkldnn.is_available():
            blocks = weight.numel() >= WIDE or onednn_leads(weight.device)
            lay = torch.ops.mkldnn._reorder_linear_weight if blocks else _transposed
            self._copy = lay(weight), *_state(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        if self._copy is None or torch.is_grad_enabled() or self._copy[1:] != _state(self.weight):
            return product(x, self.weight, self.bias)
        weight = self._copy[0]
        return by_onednn(x, weight, self.bias) if weight.is_mkldnn else nn.functional.linear(x, weight, self.bias)


def _transposed(weight: Tensor) -> Tensor:
    """The same matrix, its columns contiguous."""
    return weight.t().contiguous().t()


def _state(weight: Tensor) -> tuple[int, int]:
    """Weights that were written to, moved or cast since have another version or address."""
    return weight._version, weight.data_ptr()
