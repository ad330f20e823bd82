"""Products with a matrix in panels, each by one call."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

PANEL, PART = 64, 16  # outputs side by side, and those of one register


def padded(weight: Tensor, step: int) -> Tensor:
    """To whole panels of outputs, and whole steps of inputs."""
    return pad(weight, (0, -weight.size(1) % step, 0, -weight.size(0) % PANEL))


def in_panels(weight: Tensor, group: int, panel: int = PANEL) -> Tensor:
    """Of a padded one: panels x groups x parts x outputs x inputs, whose products are summed at once."""
    panels = weight.view(-1, panel // PART, PART, weight.size(1) // group, group)
    return panels.permute(0, 3, 1, 2, 4).contiguous()


class NativeProduct:
    """Of rows in fp32, by a kernel that takes their place, those of `used`, the result's, and sizes."""

    def __init__(self, kernel: Callable[..., None], tiles: int, weight: Tensor, used: Sequence[Tensor | None]) -> None:
        """tiles: whether AMX multiplies."""
        self.kernel, self.tiles, (self.outputs, self.inputs) = kernel, tiles, weight.shape
        self.used = [None if each is None else each.contiguous() for each in used]
        self.places = [0 if each is None else each.data_ptr() for each in self.used]

    def __call__(self, x: Tensor) -> Tensor:
        if x.dtype is not torch.float32 or not x.is_cpu or x.size(-1) != self.inputs:
            given = f"{x.dtype} on {x.device}, {tuple(x.shape)}"
            raise ValueError(f"rows of {self.inputs} numbers in fp32 on the CPU are wanted, not {given}")
        rows = x.contiguous()
        y = rows.new_empty((*x.shape[:-1], self.outputs))
        count = x.numel() // self.inputs
        sizes = count, self.inputs, self.outputs
        self.kernel(rows.data_ptr(), *self.places, y.data_ptr(), *sizes, torch.get_num_threads(), self.tiles)
        return y
