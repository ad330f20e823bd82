"""Hyper-connections whose streams are mixed by a weighted mean of all permutations, without Sinkhorn's rounds."""

from itertools import permutations

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.hyper_connections import STREAMS
from realformer_nmt.model.topologies.manifold_connections import (
    CARRYING,
    READING,
    Manifold,
    ManifoldHyper,
    without_autocast,
)
from realformer_nmt.model.topologies.topology import Place

ORDERS = [*permutations(range(STREAMS))]  # the identity first


class PermutationMean(Manifold):
    """a = sigmoid(..), b = 2 sigmoid(..), A = sum_p softmax(..)_p P_p, each of s W (g RMS(all streams)) + c, in fp32.

    P_p are the 24 permutation matrices. W starts at 0, s at 0.01, g at 1; c of a and b at 1 for stream l mod n of
    sub-layer l from 0 and at -1 for the others, c of A at 0 for the identity and at -8 for the others.
    """

    matrices: Tensor

    def __init__(self, input_norm: nn.Module, width: int, number: int) -> None:
        super().__init__(input_norm, width, outputs=2 * STREAMS + len(ORDERS))
        nn.init.zeros_(self.map)
        self.stream_gain = nn.Parameter(torch.ones(STREAMS * width))
        streams = 2 * torch.eye(STREAMS)[number % STREAMS] - 1
        orders = torch.full((len(ORDERS),), -8.0)
        orders[0] = 0
        self.bias.data.copy_(torch.cat([streams, streams, orders]))
        matrices = torch.eye(STREAMS)[torch.tensor(ORDERS)]  # 24 x n x n
        self.register_buffer("matrices", matrices.flatten(1), persistent=False)

    def reading(self, streams: Tensor) -> Tensor:
        return torch.sigmoid(self.mapped(streams, READING, 0)).type_as(streams)

    def carrying(self, streams: Tensor) -> Tensor:
        shares = self.mapped(streams, CARRYING, 2).softmax(-1)  # B x T x 24
        with without_autocast(shares):
            mean = shares @ self.matrices.float()
        return torch.unflatten(mean, -1, (STREAMS, STREAMS)).type_as(streams)

    def matrix(self, rows: slice) -> Tensor:
        return self.map[rows] * self.stream_gain


class PermutationHyper(ManifoldHyper):
    """h = shortcut(A^T h, b f(LN(a . h))), A a mean of permutation matrices; LN(mean of h) after the last layer.

    mHC-lite (2601.05732), checked against FFTYYY/mhc-lite (ea19775), which takes a random stream for l mod n, and ends
    with the sum of LN(h) over the streams. Its cost grows with the factorial of the number of streams.
    """

    def norm(self, place: Place) -> nn.Module:
        return PermutationMean(self.new_norm(self.width), self.width, place.number)
