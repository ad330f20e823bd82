"""Products with a matrix that is packed in panels, by one call of C each."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

PANEL, PART = 64, 16  # outputs side by side, and those of one register


def padded(weight: Tensor, step: int) -> Tensor:
    """Pad a weight to whole panels of outputs, and whole steps of inputs."""
    if weight.dim() != 2 or not weight.numel():
        raise ValueError(f"a weight must be outputs x inputs, at least one of each, not {tuple(weight.shape)}")
    return pad(weight, (0, -weight.size(1) % step, 0, -weight.size(0) % PANEL))


def in_panels(weight: Tensor, group: int, panel: int = PANEL) -> Tensor:
    """Return a padded weight as panels x groups x parts x outputs x inputs; products of a group are summed at once."""
    panels = weight.view(-1, panel // PART, PART, weight.size(1) // group, group)
    return panels.permute(0, 3, 1, 2, 4).contiguous()


def starts(weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the bias of each output, 0 if there is none, for whole panels."""
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    if bias.shape != weight.shape[:1]:
        raise ValueError(f"a bias must have {len(weight)} numbers, one for each output, not {tuple(bias.shape)}")
    return pad(bias, (0, -len(weight) % PANEL))


class NativeProduct:
    """Product of rows in fp32 with one weight, which C checks once and stores."""

    def __init__(self, kernel: Callable[..., Tensor], packed: object, tiles: int) -> None:
        """Set the function of the C module, the weight that it has packed, and `tiles`, whether AMX multiplies."""
        self.kernel, self.packed, self.tiles = kernel, packed, tiles

    def __call__(self, x: Tensor) -> Tensor:
        return self.kernel(packed=self.packed, x=x.contiguous(), tiles=self.tiles, threads=torch.get_num_threads())
