"""DLCL: a layer's input is a trained sum of the outputs of all layers below."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, PostLN, PreLN, Stack, Stream, Topology


def weighted_sum(weights: Tensor, outputs: Sequence[Tensor]) -> Tensor:
    """Return sum_k weights[k] y_k, over the first of the weights if there are more than outputs."""
    return torch.einsum("k,k...->...", weights[: len(outputs)], torch.stack(tuple(outputs))).type_as(outputs[0])


def with_output(outputs: Sequence[Tensor], y: Tensor, depth: int) -> list[Tensor]:
    """Return the outputs up to that of the layer of this depth; one before it that an analysis leaves out is 0."""
    return [*outputs, *(torch.zeros_like(y) for _ in range(depth - len(outputs))), y]


class History(Topology):
    """Base of both forms of DLCL (Wang et al. 2019, 1906.01787), checked against wangqiangneu/dlcl (c632ee2).

    y_0 is the embedding, y_l the output of layer l, whose sub-layers have their usual shortcuts. Row l of the weights,
    W[l], starts at 1 / (l + 1) for each of its l + 1 entries. The stream is the current x, then y_0, y_1 ...
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        entries = stack.layers + 1
        self.weights = nn.Parameter(torch.ones(entries, entries).tril() / torch.arange(1, entries + 1)[:, None])
        self.history_norms = nn.ModuleList(self.new_norm(width) for _ in range(stack.layers))

    def sum(self, outputs: Stream) -> Tensor:
        """Return sum_k W[l, k] y_k, for l + 1 outputs."""
        return weighted_sum(self.weights[len(outputs) - 1], outputs)

    def enter(self, x: Tensor) -> Stream:
        return self.sum((x,)), x


class PreHistory(History, PreLN):
    """x_{l+1} = sum_k W[l, k] LN_k(y_k) over Pre-LN layers, y_0 without a norm; LN(x) after the last layer."""

    renormalises = True

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module, place: Place) -> Stream:
        x, *outputs = stream
        y = shortcut(x, branch)
        if not place.last:
            return y, *outputs
        outputs = with_output(outputs, self.history_norms[place.depth - 1](y), place.depth)
        return self.sum(tuple(outputs)), *outputs


class PostHistory(History, PostLN):
    """x_{l+1} = LN_l(sum_k W[l, k] y_k) over Post-LN layers."""

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        x, *outputs = stream
        y = norm(shortcut(x, branch))
        if not place.last:
            return y, *outputs
        outputs = with_output(outputs, y, place.depth)
        return self.history_norms[place.depth - 1](self.sum(tuple(outputs))), *outputs
