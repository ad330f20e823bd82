"""Loss of a trained model when one layer is left out."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from realformer_nmt.analysis.hooks import stacks
from realformer_nmt.analysis.text import Text, loss
from realformer_nmt.model.attention.attention import Attention
from realformer_nmt.model.stack import Side


@contextmanager
def without(side: Side, layer: int) -> Iterator[None]:
    """Remove one layer, counted from 1, from the stack while the context lasts; a mean of scores is of the others."""
    layers = side.layers
    above = [part for part in layers[layer:].modules() if isinstance(part, Attention)]
    depths = [attention.depth for attention in above]
    side.layers = nn.ModuleList(module for number, module in enumerate(layers, 1) if number != layer)
    for attention in above:
        attention.depth = attention.carry.depth_without(attention.depth, layer)
    try:
        yield
    finally:
        side.layers = layers
        for attention, depth in zip(above, depths, strict=True):
            attention.depth = depth


def measure(model: nn.Module, text: Text) -> dict[str, list[float]]:
    """Return by side and layer the loss without the layer minus the loss with all, in bits per token.

    A side of a single layer has no such figures.
    """
    baseline = loss(model, text)
    increases: dict[str, list[float]] = {}
    for name, side in stacks(model).items():
        increases[name] = []
        for layer in range(1, len(side.layers) + 1) if len(side.layers) > 1 else ():
            with without(side, layer):
                increases[name].append(loss(model, text) - baseline)
    return increases
