"""Topologies over plain linear branches, two layers of two sub-layers and one more, for tests against formulas."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.shortcuts import Constant
from realformer_nmt.model.topologies.topology import Place, Stack, Topology

WIDTH, LAYERS, SUBLAYERS, W = 6, 3, 2, 1.5
torch.manual_seed(2)
X = torch.randn(2, 3, WIDTH)
BRANCHES = [nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS * SUBLAYERS)]


def normalise(x: Tensor, norm: nn.Module, eps: float = 1e-5) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / (variance + eps).sqrt() * norm.weight + norm.bias


class Pass:
    """A topology, its norms with random weights, and what it makes of X in an encoder of three layers."""

    def __init__(self, kind: type[Topology], blocks: int = 8) -> None:
        torch.manual_seed(3)
        self.topology = kind(Stack("encoder", LAYERS, LAYERS, blocks=blocks), WIDTH)
        self.places = [
            Place(number // SUBLAYERS + 1, number, last=number % SUBLAYERS == SUBLAYERS - 1)
            for number in range(LAYERS * SUBLAYERS)
        ]
        self.norms = [self.topology.norm(place) for place in self.places]
        self.final = self.topology.final_norm()
        for module in (self.topology, *self.norms, self.final):
            for parameter in module.parameters():
                nn.init.normal_(parameter)
        self.output = self.run()

    def run(self) -> Tensor:
        stream = self.topology.enter(X)
        for first in range(0, len(self.places), SUBLAYERS):
            (stream,) = self.topology(lambda stream, first=first: (self.layer(stream, first),), stream)
        return self.topology.leave(stream, self.final)

    def layer(self, stream: tuple[Tensor, ...], first: int) -> tuple[Tensor, ...]:
        for number in range(first, first + SUBLAYERS):
            norm, place = self.norms[number], self.places[number]
            branch = BRANCHES[number](self.topology.read(stream, norm, place))
            stream = self.topology.write(stream, branch, Constant(W), norm, place)
        return stream
