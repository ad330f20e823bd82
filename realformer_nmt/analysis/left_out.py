"""What is lost when one layer is left out of a trained model."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from realformer_nmt.analysis.losses import loss
from realformer_nmt.analysis.text import Text
from realformer_nmt.analysis.watching import stacks
from realformer_nmt.model.stack import Side


@contextmanager
def without(side: Side, layer: int) -> Iterator[None]:
    """The stack without its layer of that number, from 1: stream and carried totals pass it by."""
    layers = side.layers
    side.layers = nn.ModuleList(other for number, other in enumerate(layers, 1) if number != layer)
    try:
        yield
    finally:
        side.layers = layers


def measure(model: nn.Module, text: Text) -> dict[str, list[float]]:
    """By side and layer, in bits a word: the loss without it minus the loss with all. An only layer stays."""
    whole = loss(model, text)
    found: dict[str, list[float]] = {}
    for name, side in stacks(model).items():
        found[name] = []
        for layer in range(1, len(side.layers) + 1) if len(side.layers) > 1 else ():
            with without(side, layer):
                found[name].append(loss(model, text) - whole)
    return found
