"""Topologies with a second path beside the shortcut: over a layer, over the stack, or a layer called twice."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, PostLN, PreLN, Results, Stack, Stream, Topology


class BottomToTop(PostLN):
    """Post-LN, and x = LN(shortcut(x, f(x)) + the layer's input) for the last sub-layer of a layer.

    B2T (Takase et al. 2023, 2206.00330), checked against takase/b2t_connection (c8e2ad4), which also multiplies the
    initial weights: the scaling `b2t`.
    """

    def enter(self, x: Tensor) -> Stream:
        return x, x

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        x, bottom = stream
        if not place.last:
            return norm(shortcut(x, branch)), bottom
        top = norm(shortcut(x, branch) + bottom)
        return top, top


class SpanNorm(BottomToTop):
    """Post-LN whose last sub-layer adds the layer's input x: LN(x + f(y)), y the output of the sub-layer before.

    SpanNorm (2601.22580), second-hand: LN(x + ffn(LN(x + att(x)))). The first sub-layer reads LN(x), x the embedding.
    The paper's scaling of initial weights is not known here. It has no layers of three sub-layers: that attention to
    the encoder adds y is a choice of this package.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.first_norm = self.new_norm(width)

    def read(self, stream: Stream, _norm: nn.Module, place: Place) -> Tensor:
        y = stream[0]
        return y if place.number else self.first_norm(y)

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        y, x = stream
        output = norm(shortcut(x if place.last else y, branch))
        return output, output if place.last else x


class Siamese(Topology):
    """o = f(LN_in(x + LN_y(y))); x = LN_x(shortcut(x, o / c)); y = y + o; LN(x + LN(y)) after the last layer.

    SiameseNorm (2602.08064), checked against the DeiT of Qwen-Applications/SiameseNorm (70efa00); its language models
    have HybridNorm as one stream. x and y start as the embedding, x normed; c = sqrt(2 l) in layer l, as in the code;
    the paper's text has sqrt(l + 1) and no LN_in. The authors have no layers of three sub-layers: that c is the same in
    a decoder is a choice of this package. The code norms x as a sub-layer begins, which is the same as after
    the one before.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.first_norm = self.new_norm(width)

    def norm(self, _place: Place) -> nn.Module:
        return self.new_norms("input", "y", "x")

    def final_norm(self) -> nn.Module:
        return self.new_norms("y", "sum")

    def enter(self, x: Tensor) -> Stream:
        return self.first_norm(x), x

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        x, y = stream
        normed: Tensor = norm("input", x + norm("y", y))
        return normed

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        x, y = stream
        return norm("x", shortcut(x, branch / math.sqrt(2 * place.depth))), y + branch

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        x, y = stream
        output: Tensor = final_norm("sum", x + final_norm("y", y))
        return output


class RungeKutta(PreLN):
    """F1 = f(x); F2 = f(x + F1); x + g F1 + (1 - g) F2 with g = sigmoid(W [F1; F2]), f a whole Pre-LN encoder layer.

    The gated RK2 of ODE Transformer (Li et al. 2022), checked against libeineu/ODE-Transformer (bcf51e8): f has its own
    shortcuts within it, and one W serves all layers. So x grows some twofold with each layer. The decoder is Pre-LN.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.twice = stack.name == "encoder"
        if self.twice:
            self.gate = nn.Linear(2 * width, 1)
            nn.init.xavier_uniform_(self.gate.weight)
            nn.init.zeros_(self.gate.bias)

    def forward(self, layer: Callable[..., Results], stream: Stream, *state: Any) -> Results:
        if not self.twice:
            return layer(stream, *state)
        (x,), ((first,), *_) = stream, layer(stream, *state)
        (second,), *rest = layer((x + first,), *state)
        g = torch.sigmoid(self.gate(torch.cat([first, second], -1)))
        return (x + g * first + (1 - g) * second,), *rest
