"""Keys and values of the layers below, at each query's own position: what mixture-of-depths attention adds."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from realformer_nmt.kernels.linear import linear
from realformer_nmt.model.attention.cache import KeysValues

Pair = tuple[Tensor, ...]  # values and keys of one layer: B x H x T x D each


class OwnPosition(KeysValues):
    """A value and a key per query, of its own position in a layer below: B x H x T x D each."""

    def match(self, query: Tensor, scale: float | Tensor) -> Tensor:
        """Scale the scores: a scaled copy of the query would be kept for each layer below."""
        return (query * self.parts[1]).sum(-1, keepdim=True) * scale  # B x H x T x 1


def parted(weights: Tensor, layers: int) -> tuple[Tensor, Sequence[Tensor]]:
    """Return the weights of all positions, B x H x T x S, and of each layer below, B x H x T x 1."""
    return (weights[..., :-layers], weights[..., -layers:].split(1, -1)) if layers else (weights, ())


def mix(seen: KeysValues, below: Sequence[OwnPosition], weights: Tensor) -> Tensor:
    """Return the weighted sum of the values of all positions and of the layers below, B x H x T x D."""
    positions, layers = parted(weights, len(below))
    heads = seen.mix(positions)
    for pair, weight in zip(below, layers, strict=True):
        heads = torch.addcmul(heads, weight, pair.parts[0])
    return heads


class FeedForwardPair(nn.Module):
    """A value and a key of a feed-forward block's input, for the layers above: (V, K) = W x, heads apart."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.projection = heads, linear(width, 2 * width)

    def forward(self, x: Tensor, carried: Pair) -> Pair:
        both = self.projection(x).unflatten(-1, (2, self.heads, -1))  # B x T x 2 x H x D
        return *carried, *both.permute(2, 0, 3, 1, 4).unbind(0)
