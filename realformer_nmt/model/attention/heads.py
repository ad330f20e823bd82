"""Kinds of heads: how the heads of an attention see each other, and the gates behind them.

What is carried from layer to layer are scores of before all this. In differential heads each of two maps carries its
own.
"""

import math

import torch
from torch import Tensor, nn

from realformer_nmt.kernels.linear import linear
from realformer_nmt.model.norms import rms_normed
from realformer_nmt.model.topologies.topology import HeadOutput


class HeadMixing(nn.Module):
    """Base of all mixings: heads do not see each other.

    All shapes are B x H x T x S, or D for the last; a view of an attention pattern may have more rows than B.
    """

    none = True  # so that kernels that hide the softmax may compute it

    def before_softmax(self, logits: Tensor) -> Tensor:
        """Return logits changed; they are not masked yet."""
        return logits

    def after_softmax(self, probabilities: Tensor) -> Tensor:
        """Return the weights of the values; probabilities have been through dropout."""
        return probabilities

    def after_values(self, heads: Tensor) -> Tensor:
        return heads


class TalkingHeads(HeadMixing):
    """softmax(A logits) and B softmax, A and B matrices of heads x heads that start as the identity."""

    none = False

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.logit_weight = nn.Parameter(torch.eye(heads))
        self.probability_weight = nn.Parameter(torch.eye(heads))

    def before_softmax(self, logits: Tensor) -> Tensor:
        return sum_of_heads(self.logit_weight, logits)

    def after_softmax(self, probabilities: Tensor) -> Tensor:
        return sum_of_heads(self.probability_weight, probabilities)


def sum_of_heads(weight: Tensor, heads: Tensor) -> Tensor:
    return torch.einsum("gh,bhts->bgts", weight.type_as(heads), heads)


class SoftmaxDifference(HeadMixing):
    """Heads 2i and 2i + 1 become one, of twice the width: (1 - t0) RMS((softmax_1 - t softmax_2) V).

    t = exp(q1 . k1) - exp(q2 . k2) + t0 with four trained vectors from N(0, 0.1), and t0 = 0.8 - 0.6 exp(-0.3 (l - 1)).
    """

    none = False

    def __init__(self, head_width: int, depth: int) -> None:
        super().__init__()
        self.start = 0.8 - 0.6 * math.exp(-0.3 * (depth - 1))
        self.vectors = nn.Parameter(0.1 * torch.randn(4, head_width))  # q1, k1, q2, k2
        self.gain = nn.Parameter(torch.ones(2 * head_width))

    def after_softmax(self, probabilities: Tensor) -> Tensor:
        q1, k1, q2, k2 = self.vectors.float()
        share = torch.exp(q1 @ k1) - torch.exp(q2 @ k2) + self.start
        row = torch.stack([torch.ones_like(share), -share])
        blocks = torch.eye(probabilities.size(1) // 2, device=share.device)
        weights = blocks[:, None, :, None] * row  # H/2 x 1 x H/2 x 2
        both = weights.expand(-1, 2, -1, -1).flatten(2).flatten(0, 1)  # H x H: the same for both halves of the values
        return sum_of_heads(both, probabilities)

    def after_values(self, heads: Tensor) -> Tensor:
        pairs = torch.unflatten(heads, 1, (-1, 2)).transpose(2, 3).flatten(3)  # B x H/2 x T x 2D
        normed = (1 - self.start) * self.gain * rms_normed(pairs)
        return torch.unflatten(normed, 3, (2, -1)).transpose(2, 3).flatten(1, 2)


class ChannelGate(HeadOutput):
    """heads * sigmoid(W x), a gate per channel, and then the topology's step; x is what the sub-layer reads."""

    def __init__(self, width: int, after: HeadOutput) -> None:
        super().__init__()
        self.gate = linear(width, width, bias=False)
        self.after = after

    def forward(self, x: Tensor, heads: Tensor) -> Tensor:
        gated: Tensor = self.after(x, heads * torch.sigmoid(self.gate(x)))
        return gated


class HeadKind:
    """Plain heads, as in Vaswani et al. 2017, and the base of all other kinds."""

    together = 1  # how many heads are computed as one, so that their number is a multiple of it

    def mixing(self, _heads: int, _head_width: int, _depth: int) -> HeadMixing:
        """Return the module of an attention's heads around the softmax; depth counts from 1."""
        return HeadMixing()

    def output(self, _width: int, after: HeadOutput) -> HeadOutput:
        """Return the module between heads and output projection, which ends with `after`, the topology's."""
        return after


class Talking(HeadKind):
    """Heads that talk in every attention: Shazeer et al. 2020 (2003.02436).

    Checked against tensorflow/mesh (da90793), where the sums start as random matrices and dropout comes after the
    second. They start as the identity in x-transformers (9252ed7), which adds the first sum to the logits: twice these.
    """

    def mixing(self, heads: int, _head_width: int, _depth: int) -> HeadMixing:
        return TalkingHeads(heads)


class Differential(HeadKind):
    """Differential attention, the difference of two softmaxes: Ye et al. 2024 (2410.05258).

    Checked against microsoft/unilm's multihead_diffattn.py (3aca927), which is of decoders alone and has no dropout;
    here each softmax has its own. So many attention heads as usual are half as many differential ones. Their norm is
    the RMS norm, whatever --norm is.
    """

    together = 2

    def mixing(self, _heads: int, head_width: int, depth: int) -> HeadMixing:
        return SoftmaxDifference(head_width, depth)


class Gated(HeadKind):
    """Heads with gates: Qiu et al. 2025 (2505.06708), its best variant, a gate per channel.

    Checked against qiuzh20/gated_attention, which is of decoders alone, and of Pre-LN, so that gates read a normed
    input: W starts as torch's Linear does, without bias. Here encoder-decoder attention is gated, too.
    """

    def output(self, width: int, after: HeadOutput) -> HeadOutput:
        return ChannelGate(width, after)


HEADS: dict[str, HeadKind] = {
    "plain": HeadKind(),
    "talking": Talking(),
    "differential": Differential(),
    "gated": Gated(),
}
