"""Attention residuals: a sub-layer's input is what it attends to among the outputs of all sub-layers before it."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.norms import rms_factor
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, Stream, Topology


class FirstInput(nn.Module):
    """LN(v_0), of the first sub-layer: a softmax over one output has no use for weights."""

    def __init__(self, input_norm: nn.Module) -> None:
        super().__init__()
        self.input_norm = input_norm

    def forward(self, outputs: Stream) -> Tensor:
        normed: Tensor = self.input_norm(outputs[0])
        return normed


class DepthAttention(nn.Module):
    """LN(sum_k softmax_k(w . RMS(v_k)) v_k), w from 0, so that the sum starts as a mean."""

    def __init__(self, input_norm: nn.Module, width: int) -> None:
        super().__init__()
        self.input_norm = input_norm
        self.key_gain = nn.Parameter(torch.ones(width))
        self.query = nn.Parameter(torch.zeros(width))

    def forward(self, outputs: Stream) -> Tensor:
        values = torch.stack(outputs, -2)  # B x T x k x C
        logits = rms_factor(values).squeeze(-1) * (values @ (self.key_gain * self.query))
        shares = logits.softmax(-1, dtype=torch.float32).type_as(values)
        normed: Tensor = self.input_norm((shares.unsqueeze(-2) @ values).squeeze(-2))
        return normed


class AttentionResiduals(Topology):
    """Each sub-layer and the output read LN(sum_k softmax_k(w . RMS(v_k)) v_k); v_0 is the embedding, v_k = f_k(x_k).

    Attention Residuals (Kimi Team 2026, 2603.15031), the full form. Checked against their laboratory's library,
    fla-org/flash-linear-attention (bc3b101d). The stream is v_0, v_1 ...; there are no shortcuts.
    """

    has_shortcuts = False

    def norm(self, place: Place) -> nn.Module:
        input_norm = self.new_norm(self.width)
        return DepthAttention(input_norm, self.width) if place.number else FirstInput(input_norm)

    def final_norm(self) -> nn.Module:
        return DepthAttention(self.new_norm(self.width), self.width)

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        x: Tensor = norm(stream)
        return x

    def write(self, stream: Stream, branch: Tensor, _shortcut: Shortcut, _norm: nn.Module, _place: Place) -> Stream:
        return *stream, branch

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        output: Tensor = final_norm(stream)
        return output


class BlockAttentionResiduals(AttentionResiduals):
    """AttentionResiduals over sums: v_0 is the embedding, v_n the sum of all f of block n, as far as they are computed.

    The form that the paper deploys (2603.15031), in blocks of ceil(layers / 8) layers, the last perhaps of fewer.
    Checked against fla-org/flash-linear-attention (bc3b101d). A block's first sub-layer reads the blocks below alone.
    Their models are decoders alone; here encoder and decoder have blocks of their own.
    """

    def write(self, stream: Stream, branch: Tensor, _shortcut: Shortcut, _norm: nn.Module, place: Place) -> Stream:
        size = -(-self.stack.layers // self.stack.blocks) * self.stack.sublayers_per_layer
        if place.number % size == 0:
            return *stream, branch
        *finished, block = stream
        return *finished, block + branch
