"""How far the output moves when the weights are disturbed a little."""

import copy
from typing import Any

import torch
from torch import nn

from realformer_nmt.analysis import readouts, watching
from realformer_nmt.analysis.text import Text

SIZE, SEED = 0.01, 1  # of the noise, relative to the root of the mean square of each matrix


@torch.no_grad()
def disturbed(model: nn.Module) -> nn.Module:
    """A copy with normal noise on every matrix of every layer; norms, biases and shortcuts are left alone."""
    other = copy.deepcopy(model)
    chance = torch.Generator().manual_seed(SEED)
    for stack in watching.stacks(other).values():
        for parameter in (each for each in stack.layers.parameters() if each.dim() > 1):
            noise = torch.randn(parameter.shape, generator=chance).to(parameter)
            parameter.add_(SIZE * parameter.square().mean().sqrt() * noise)
    return other


def measure(model: nn.Module, text: Text) -> dict[str, Any]:
    """|F(x, W*) - F(x, W)|^2 / |F(x, W)|^2 / SIZE^2 by side and layer: the output change of Liu et al. 2020, section 3,
    with F read out after each layer. The encoder is disturbed for the decoder, too."""
    other = disturbed(model)
    changes: dict[str, torch.Tensor] = {}
    for before, after in zip(readouts.of(model, text), readouts.of(other, text), strict=True):
        for side in before:
            pairs = zip(before[side][1:], after[side][1:], strict=True)
            sums = [torch.stack([(y - x).double().square().sum(), x.double().square().sum()]) for x, y in pairs]
            changes[side] = changes.get(side, 0) + torch.stack(sums)
    return {side: (found[:, 0] / found[:, 1] / SIZE**2).tolist() for side, found in changes.items()}
