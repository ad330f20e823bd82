"""Manifold-constrained hyper-connections: streams that are mixed by doubly stochastic matrices."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from realformer_nmt.model.norms import rms_factor
from realformer_nmt.model.topologies.hyper_connections import STREAMS, HyperStatic
from realformer_nmt.model.topologies.topology import Norms, Place, Stream

ROUNDS = 20
EPS = 1e-6
READING, WRITING, CARRYING = slice(STREAMS), slice(STREAMS, 2 * STREAMS), slice(2 * STREAMS, None)


class Manifold(Norms):
    """a = sigmoid(..), b = 2 sigmoid(..), A = Sinkhorn(..), each of s W RMS(all streams) + c, computed in fp32.

    W is one Xavier matrix, s three numbers from 0.01, c starts at 0.
    """

    def __init__(self, input_norm: nn.Module, width: int, outputs: int = STREAMS * (2 + STREAMS)) -> None:
        super().__init__({"input_norm": input_norm})
        self.map = nn.Parameter(nn.init.xavier_uniform_(torch.empty(outputs, STREAMS * width)))
        self.scales = nn.Parameter(torch.full((3,), 0.01))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def reading(self, streams: Tensor) -> Tensor:
        return (torch.sigmoid(self.mapped(streams, READING, 0)) + EPS).type_as(streams)

    def writing(self, streams: Tensor) -> Tensor:
        return (2 * torch.sigmoid(self.mapped(streams, WRITING, 1))).type_as(streams)

    def carrying(self, streams: Tensor) -> Tensor:
        logits = torch.unflatten(self.mapped(streams, CARRYING, 2), -1, (STREAMS, STREAMS))
        return doubly_stochastic(logits).type_as(streams)

    def matrix(self, rows: slice) -> Tensor:
        """Return rows of W."""
        return self.map[rows]

    def mapped(self, streams: Tensor, rows: slice, scale: int) -> Tensor:
        joined = streams.flatten(-2).float()  # B x T x nC
        with without_autocast(joined):
            product = joined @ self.matrix(rows).float().t()
        return self.scales[scale].float() * (rms_factor(joined, EPS) * product) + self.bias[rows].float()


def without_autocast(x: Tensor) -> AbstractContextManager[None]:
    """Return a context whose products have the types of their factors; without autocast there is nothing to do."""
    device = "cuda" if x.is_cuda else "cpu"
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()


def doubly_stochastic(logits: Tensor) -> Tensor:
    """Return matrices whose rows and columns sum to 1: Sinkhorn and Knopp's algorithm, 20 rounds from a softmax."""
    matrix = logits.softmax(-1) + EPS
    matrix = matrix / (matrix.sum(-2, keepdim=True) + EPS)
    for _ in range(ROUNDS - 1):
        matrix = matrix / (matrix.sum(-1, keepdim=True) + EPS)
        matrix = matrix / (matrix.sum(-2, keepdim=True) + EPS)
    return matrix


class ManifoldHyper(HyperStatic):
    """h = shortcut(A^T h, b f(LN(a . h))), four streams and a doubly stochastic A; LN(mean of h) after the last layer.

    mHC (Xie et al. 2025, 2512.24880), checked against DeepSeek's TileKernels (36d9e45) and Megatron-LM (d98e8a6), which
    starts as here; its A is transposed, and its rounds begin with the other side. DeepSeek-V4 of transformers starts
    otherwise (scales 1, W from N(0, 0.02)), and has a trained sum at the end.
    """

    def norm(self, _place: Place) -> nn.Module:
        return Manifold(self.new_norm(self.width), self.width)

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        output: Tensor = final_norm(stream[0].mean(-2))
        return output
