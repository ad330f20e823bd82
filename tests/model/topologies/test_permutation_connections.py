"""Means of permutation matrices: doubly stochastic at any depth, and what they start as."""

import torch
from torch import nn

from realformer_nmt.model.topologies.permutation_connections import PermutationMean


def connections(number: int, std: float) -> PermutationMean:
    module = PermutationMean(nn.Identity(), 8, number)
    nn.init.normal_(module.map, std=std)
    module.scales.data.fill_(1)
    return module


def test_it_starts_with_one_stream_first_and_almost_the_identity() -> None:
    """sigmoid(1) = 0.731 and sigmoid(-1) = 0.269; of exp(0) and 23 exp(-8) a quarter of the latter moves no stream."""
    fifth, streams = connections(5, std=0.0), torch.randn(2, 3, 4, 8)
    one, other = 0.73106, 0.26894
    expected = torch.tensor([other, one, other, other]).expand(2, 3, 4)
    torch.testing.assert_close(fifth("reading", streams), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(fifth("writing", streams), 2 * expected, rtol=0, atol=1e-5)
    away = 18 * torch.tensor(-8.0).exp() / (1 + 23 * torch.tensor(-8.0).exp())  # 18 of 24 permutations move a stream
    start = torch.full((4, 4), float(away) / 3).fill_diagonal_(1 - float(away))
    torch.testing.assert_close(fifth("carrying", streams), start.expand(2, 3, 4, 4), rtol=0, atol=1e-5)
