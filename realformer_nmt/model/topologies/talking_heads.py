"""Talking heads: trained sums over the heads of an attention, before and after the softmax."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.head_mixing import HeadMixing
from realformer_nmt.model.topologies.topology import PreLN


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


class Talking(PreLN):
    """Pre-LN whose heads talk in every attention: Shazeer et al. 2020 (2003.02436).

    Checked against tensorflow/mesh (da90793), where the sums start as random matrices and dropout comes after the
    second. They start as the identity in x-transformers (9252ed7), which adds the first sum to the logits: twice these.
    """

    def head_mixing(self, heads: int, _head_width: int, _depth: int) -> HeadMixing:
        return TalkingHeads(heads)
