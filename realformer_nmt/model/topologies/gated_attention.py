"""Gated attention: heads are multiplied by a gate before the output projection."""

import torch
from torch import Tensor

from realformer_nmt.kernels.linear import linear
from realformer_nmt.model.topologies.topology import HeadOutput, PreLN


class ChannelGate(HeadOutput):
    """heads * sigmoid(W x), a gate per channel; x is the sub-layer's normed input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = linear(width, width, bias=False)

    def forward(self, x: Tensor, heads: Tensor) -> Tensor:
        return heads * torch.sigmoid(self.gate(x))


class Gated(PreLN):
    """Pre-LN whose attentions have gates: Qiu et al. 2025 (2505.06708), its best variant, a gate per channel.

    Checked against qiuzh20/gated_attention, which is of decoders alone: W starts as torch's Linear does, without bias.
    Here encoder-decoder attention is gated, too.
    """

    def head_output(self, width: int, _heads: int) -> HeadOutput:
        return ChannelGate(width)

    def memory_head_output(self, width: int, _heads: int) -> HeadOutput:
        return ChannelGate(width)
