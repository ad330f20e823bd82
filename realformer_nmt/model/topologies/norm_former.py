"""NormFormer: Pre-LN with two more norms, a gain per head, and gains of the shortcut."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.branch_norms import NormsAround
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import HeadOutput, Place, PreLN, Stack, Stream


class HeadGains(HeadOutput):
    """g_h times head h, g from 1."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.gains = nn.Parameter(torch.ones(heads))

    def forward(self, _x: Tensor, heads: Tensor) -> Tensor:
        split = torch.unflatten(heads, -1, (len(self.gains), -1))  # B x T x H x D
        return (split * self.gains.unsqueeze(-1)).flatten(-2)


class NormFormer(NormsAround, PreLN):
    """Pre-LN, and x = shortcut(x, LN(att(LN(x)))) with gains of heads; x = shortcut(r x, fc2(LN(relu(fc1(LN(x)))))).

    NormFormer (Shleifer et al. 2021, 2110.09456), r per channel, all gains from 1. As in fairseq, encoder-decoder
    attention has neither norm nor gains; unlike there, the encoder has them, too, and gains multiply heads, as in the
    paper: fairseq's --scale-heads multiplies channels after the output projection. The branch is normed after its
    dropout.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.stream_gains = nn.Parameter(torch.ones(stack.layers, width))

    def head_output(self, _width: int, heads: int) -> HeadOutput:
        return HeadGains(heads)

    def hidden_norm(self, ffn_width: int) -> nn.Module:
        return self.new_norm(ffn_width)

    def is_first(self, place: Place) -> bool:
        return place.number % self.stack.sublayers_per_layer == 0

    def norm(self, place: Place) -> nn.Module:
        return self.new_norms("before", *["after"] * self.is_first(place))

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        x = self.stream_gains[place.depth - 1] * stream[0] if place.last else stream[0]
        return (shortcut(x, norm("after", branch) if self.is_first(place) else branch),)
