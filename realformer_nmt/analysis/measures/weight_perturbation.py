"""Change of the output when the weights are perturbed a little."""

import copy

import torch
from torch import nn

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.measures import layer_outputs
from realformer_nmt.analysis.text import Text

SIZE, SEED = 0.01, 1  # SIZE is the noise's, relative to the root mean square of each matrix


@torch.no_grad()
def disturbed(model: nn.Module) -> nn.Module:
    """Return a copy with normal noise on every matrix of every layer; norms, biases and shortcuts stay as they are."""
    perturbed = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(SEED)
    for stack in hooks.stacks(perturbed).values():
        for parameter in (each for each in stack.layers.parameters() if each.dim() > 1):
            noise = torch.randn(parameter.shape, generator=generator).to(parameter)
            parameter.add_(SIZE * parameter.square().mean().sqrt() * noise)
    return perturbed


def measure(model: nn.Module, text: Text) -> dict[str, list[float]]:
    """Return |F(x, W*) - F(x, W)|^2 / |F(x, W)|^2 / SIZE^2 by side and layer.

    This is the output change of Liu et al. 2020, section 3, with F read out after each layer. The decoder reads the
    output of the perturbed encoder.
    """
    perturbed = disturbed(model)
    changes: dict[str, torch.Tensor] = {}
    for before, after in zip(
        layer_outputs.per_batch(model, text), layer_outputs.per_batch(perturbed, text), strict=True
    ):
        for side in before:
            pairs = zip(before[side][1:], after[side][1:], strict=True)
            squares = [torch.stack([(y - x).double().square().sum(), x.double().square().sum()]) for x, y in pairs]
            changes[side] = changes.get(side, 0) + torch.stack(squares)
    return {side: (sums[:, 0] / sums[:, 1] / SIZE**2).tolist() for side, sums in changes.items()}
