"""The gradient of the loss, layer by layer, by one backward pass over a text without dropout."""

from collections import defaultdict
from typing import Any

from torch import nn

from realformer_nmt.analysis.losses import words
from realformer_nmt.analysis.text import Text, to
from realformer_nmt.analysis.watching import stacks


def norms(model: nn.Module, text: Text) -> dict[str, Any]:
    """Of the mean loss of a word, in nats: the norm over all parameters of a layer, and over each of its parts, from
    the first layer of a side on. Parameters end without gradients."""
    place, number = next(model.parameters()).device, words(text)
    model.zero_grad(set_to_none=True)
    for batch in text.batches():
        (text.lost(model, to(batch, place)) / number).backward()
    found = {side: [of_layer(layer) for layer in stack.layers] for side, stack in stacks(model).items()}
    model.zero_grad(set_to_none=True)
    return {
        side: {
            "norm": [sum(square for square in squares.values()) ** 0.5 for squares in layers],
            "parts": {part: [squares[part] ** 0.5 for squares in layers] for part in layers[0]},
        }
        for side, layers in found.items()
    }


def of_layer(layer: nn.Module) -> dict[str, float]:
    """Squares of norms, by part."""
    squares: dict[str, float] = defaultdict(float)
    for name, parameter in layer.named_parameters():
        if parameter.grad is not None:
            squares[name.partition(".")[0]] += float(parameter.grad.double().square().sum())
    return dict(squares)
