"""Topologies with one trained number per layer, which weighs the branch or the stream."""

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from realformer_nmt.model.topologies.branch_norms import NoNorm
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, PreLN, Stack, Stream


class ReZero(NoNorm):
    """x = shortcut(x, a f(x)) without any norm, a from 0, one number for all sub-layers of a layer.

    ReZero (Bachlechner et al. 2020, 2003.04887), checked against majumderb/rezero. Its encoder multiplies before the
    dropout, its decoder after, which is the same.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.weights = nn.Parameter(torch.zeros(stack.layers))

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        return super().write(stream, self.weights[place.depth - 1] * branch, shortcut, norm, place)


class GPAS(PreLN):
    """Pre-LN, and x = x - silu(g) stopgrad(x) after each sub-layer, g from 0, one number per layer.

    GPAS (Chen et al. 2025, 2506.22049), checked against dandingsky/GPAS (3198068): the stream gets smaller, its
    gradient does not. There the gradients of all g may be clipped at 0.01, as for 7B parameters; here they are not.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.gates = nn.Parameter(torch.zeros(stack.layers))

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module, place: Place) -> Stream:
        x = shortcut(stream[0], branch)
        return (x - silu(self.gates[place.depth - 1]) * x.detach(),)
