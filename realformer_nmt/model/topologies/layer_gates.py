"""Topologies with one trained number per layer, which weighs the branch or the stream."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.scaling import Stack
from realformer_nmt.model.topologies.branch_norms import NoNorm
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, Stream


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
