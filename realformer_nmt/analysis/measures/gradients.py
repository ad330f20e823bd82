"""The gradient of the loss, layer by layer, of a backward pass over a text without dropout."""

from collections import defaultdict
from itertools import chain

import torch
from torch import nn

from realformer_nmt.analysis.analysis_record import GradientNorms
from realformer_nmt.analysis.hooks import stacks
from realformer_nmt.analysis.text import Text, count_targets, device_of


def norms(model: nn.Module, text: Text) -> dict[str, GradientNorms]:
    """Return gradient norms of the mean loss per token, in nats, by side.

    `norm` is over all parameters of each layer, `parts` over each part of each layer, 0 where a layer trains nothing of
    it. Parameters are left without gradients.
    """
    number = count_targets(text)
    model.zero_grad(set_to_none=True)
    for batch in text.batches(device_of(model)):
        torch.autograd.backward(text.summed_loss(model, batch) / number)
    squared = {side: [squares_by_part(layer) for layer in stack.layers] for side, stack in stacks(model).items()}
    model.zero_grad(set_to_none=True)
    parts = {side: dict.fromkeys(chain.from_iterable(layers)) for side, layers in squared.items()}  # of any layer
    return {
        side: GradientNorms(
            norm=[sum(squares.values()) ** 0.5 for squares in layers],
            parts={part: [squares.get(part, 0.0) ** 0.5 for squares in layers] for part in parts[side]},
        )
        for side, layers in squared.items()
    }


def squares_by_part(layer: nn.Module) -> dict[str, float]:
    """Return the squared gradient norm of each part of a layer."""
    squares: dict[str, float] = defaultdict(float)
    for name, parameter in layer.named_parameters():
        if parameter.grad is not None:
            squares[name.partition(".")[0]] += float(parameter.grad.double().square().sum())
    return dict(squares)
