"""Products in eight bits by one call."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

PANEL, PART, GROUP = 64, 16, 4  # outputs side by side, of one register, and inputs whose products are summed at once
ZERO = 128  # what 0 is without a sign


class NativeInt8:
    """As Int8 (kernels/int8.py), which has the formula. A row with a NaN or an infinite number comes out as NaN."""

    def __init__(self, library: Any, whole: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        """whole: outputs x inputs, int8; scale: of each output."""
        self.multiply, (self.outputs, self.inputs) = library.linear8, whole.shape
        padded = pad(whole, (0, -self.inputs % GROUP, 0, -self.outputs % PANEL))
        self.start = padded.sum(1, dtype=torch.int32).mul_(-ZERO)
        panels = padded.view(-1, PANEL // PART, PART, padded.size(1) // GROUP, GROUP)
        self.weight = panels.permute(0, 3, 1, 2, 4).contiguous()  # panels x groups x parts x outputs x inputs
        self.scale = scale.contiguous()
        self.bias = None if bias is None else bias.contiguous()
        used = (self.weight, self.start, self.scale)
        self.places = [part.data_ptr() for part in used] + [0 if self.bias is None else self.bias.data_ptr()]

    def __call__(self, x: Tensor) -> Tensor:
        if x.dtype is not torch.float32 or not x.is_cpu or x.size(-1) != self.inputs:
            given = f"{x.dtype} on {x.device}, {tuple(x.shape)}"
            raise ValueError(f"rows of {self.inputs} numbers in fp32 on the CPU are wanted, not {given}")
        rows = x.contiguous()
        y = rows.new_empty((*x.shape[:-1], self.outputs))
        count = x.numel() // self.inputs
        self.multiply(
            rows.data_ptr(), *self.places, y.data_ptr(), count, self.inputs, self.outputs, torch.get_num_threads()
        )
        return y
