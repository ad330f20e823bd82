"""Deep delta learning: a branch says in which direction the stream changes, two gates say how far."""

import math

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Norms, Place, PreLN, Stream

EPS = 1e-5


class DeepDelta(PreLN):
    """x = x + b (v - k . x) k, k = f(LN(x)) / |f|, b = 2 sigmoid(w . LN(x) + w0), v = 4 sigmoid(u . x + u0).

    Deep Delta Learning with one value per position (2601.00417), checked against yifanzhang-pro/deep-delta-learning
    (2b55f25: model/DDL-vdim1-gpt-mha-rope.py); in the paper v is linear. w and u start from N(0, 0.5 / sqrt(d)), w0 at
    0, so that b starts around 1: what x has along k is replaced by v. The length of a branch means nothing, so there is
    no shortcut to weigh.
    """

    has_shortcuts = False

    def norm(self, _place: Place) -> nn.Module:
        step, value = nn.Linear(self.width, 1), nn.Linear(self.width, 1)
        for gate in (step, value):
            nn.init.normal_(gate.weight, std=0.5 / math.sqrt(self.width))
        nn.init.zeros_(step.bias)
        return Norms({"input": self.new_norm(self.width), "step": step, "value": value})

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        normed: Tensor = norm("input", stream[0])
        return normed

    def write(self, stream: Stream, branch: Tensor, _shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        (x,) = stream
        exact, f = x.float(), branch.float()
        k = f * (f.square().sum(-1, keepdim=True) + EPS**2).rsqrt()
        b = 2 * torch.sigmoid(norm("step", norm("input", x)).float())  # B x T x 1, as v
        v = 4 * torch.sigmoid(norm("value", x).float())
        return ((exact + b * (v - (k * exact).sum(-1, keepdim=True)) * k).type_as(x),)
