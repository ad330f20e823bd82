"""Differential attention: the difference of two softmaxes weighs the values."""

import math

import torch
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.norms import rms_normed
from realformer_nmt.model.topologies.head_mixing import HeadMixing
from realformer_nmt.model.topologies.talking_heads import sum_of_heads
from realformer_nmt.model.topologies.topology import PreLN


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


class Differential(PreLN):
    """Pre-LN whose attentions are differential: Ye et al. 2024 (2410.05258).

    Checked against microsoft/unilm's multihead_diffattn.py (3aca927), which is of decoders alone and has no dropout;
    here each softmax has its own. So many attention heads as usual are half as many differential ones. Each of the two
    maps carries its own scores.
    """

    def head_mixing(self, heads: int, head_width: int, depth: int) -> HeadMixing:
        if heads % 2:
            raise OptionError(
                f"--{self.stack.name}-attention-heads {heads} is odd, and --residual-topology differential takes heads "
                "in pairs: use an even number"
            )
        return SoftmaxDifference(head_width, depth)
