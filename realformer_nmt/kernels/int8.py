"""Products in eight bits, by oneDNN."""

import torch
from torch import Tensor

LARGEST = 127  # symmetric: -127 to 127


class Int8:
    """y = s t (round(x / s) round(W / t)^T) + b, where s is max|x| / 127 of each row of x, t that of each row of W.

    A row's result depends on that row alone: a sentence is translated alike in every batch, and a row that is NaN or
    infinite spoils no other."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        scale = _scale(weight)  # outputs x 1
        self.scale, self.zero = scale.flatten(), torch.zeros(len(weight), dtype=torch.long)
        self.weight = torch.ops.onednn.qlinear_prepack(_round(weight, scale), None)
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, -2)  # N x inputs
        scale = _scale(rows)
        whole = torch.ops.onednn.qlinear_pointwise.default(
            _round(rows, scale), 1.0, 0, self.weight, self.scale, self.zero, None, 1.0, 0, torch.float32, "none", [], ""
        )
        y = whole.mul_(scale) if self.bias is None else torch.addcmul(self.bias, whole, scale)
        return y.view(*x.shape[:-1], -1)  # ... x outputs


def _scale(rows: Tensor) -> Tensor:
    """Two passes that only read: |x| would be written."""
    largest = torch.maximum(rows.amax(-1, keepdim=True), rows.amin(-1, keepdim=True).neg_())
    return largest.clamp_(min=torch.finfo(torch.float32).tiny).div_(LARGEST)


def _round(rows: Tensor, scale: Tensor) -> Tensor:
    return (rows / scale).round_().to(torch.int8)
