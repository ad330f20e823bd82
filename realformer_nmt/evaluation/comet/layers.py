"""Parts of a COMET model beside its encoder: the mix of layers, the pooling of tokens, the estimator."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.evaluation.comet.settings import SOFTMAX

EPSILON = 1e-12  # of the variance
ACTIVATIONS = {"tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "identity": nn.Identity}


def sparsemax(weights: Tensor) -> Tensor:
    """Return p = max(z - t, 0), where t makes the sum 1 (Martins & Astudillo 2016, algorithm 1)."""
    ordered, rank = weights.sort(descending=True).values, torch.arange(1, len(weights) + 1)
    excess = ordered.cumsum(0) - 1
    support = int((rank * ordered > excess).sum())
    return (weights - excess[support - 1] / support).clamp(min=0)


class LayerMix(nn.Module):
    """mix = gamma sum_k s_k h_k over the embeddings h_0 and the layers h_1 ..., s = softmax or sparsemax of weights."""

    def __init__(self, layers: int, transformation: str, norm: bool) -> None:
        super().__init__()
        self.scalar_parameters = nn.ParameterList(nn.Parameter(torch.zeros(1)) for _ in range(layers))
        self.gamma = nn.Parameter(torch.ones(1))
        self.transformation = transformation
        self.norm = norm

    def forward(self, layers: Sequence[Tensor], mask: Tensor) -> Tensor:
        weights = torch.cat([*self.scalar_parameters]).cpu()
        shares = (weights.softmax(0) if self.transformation == SOFTMAX else sparsemax(weights)).to(mask.device)
        if self.norm:
            layers = [normalised(layer, mask) for layer in layers]
        mix: Tensor = self.gamma * sum(share * layer for share, layer in zip(shares, layers, strict=True))
        return mix


def normalised(layer: Tensor, mask: Tensor) -> Tensor:
    """Return n x T x C numbers less their sentence's mean, by its deviation, both over its tokens and channels."""
    present = mask.unsqueeze(-1)
    numbers = (mask.sum(1) * layer.shape[-1]).view(-1, 1, 1)
    mean = (layer * present).sum((1, 2), keepdim=True) / numbers
    variance = (((layer - mean) * present) ** 2).sum((1, 2), keepdim=True) / numbers
    return (layer - mean) / torch.sqrt(variance + EPSILON)


def mean_of_tokens(embedded: Tensor, present: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over tokens; `present` is false at padding, also where a text spells out the symbol."""
    return embedded.masked_fill(~present.unsqueeze(-1), 0).sum(1) / mask.sum(1, keepdim=True)


def largest_of_tokens(embedded: Tensor, present: Tensor, _: Tensor) -> Tensor:
    return embedded.masked_fill(~present.unsqueeze(-1), -torch.inf).amax(1)


def first_token(embedded: Tensor, _: Tensor, __: Tensor) -> Tensor:
    return embedded[:, 0]


POOLS: Mapping[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "avg": mean_of_tokens,
    "max": largest_of_tokens,
    "cls": first_token,
}


def estimator(inputs: int, hidden: Sequence[int], activation: str, final: str | None) -> nn.Sequential:
    """Build the feed-forward network; an Identity stands where the checkpoint counts a dropout."""
    kind = choose("activations", activation.lower(), ACTIVATIONS)
    modules: list[nn.Module] = []
    for size, following in zip([inputs, *hidden], hidden, strict=False):
        modules += [nn.Linear(size, following), kind(), nn.Identity()]
    modules.append(nn.Linear(hidden[-1], 1))
    if final is not None:
        modules.append(choose("final_activation", final.lower(), ACTIVATIONS)())
    return nn.Sequential(*modules)
