"""Sparsemax by what defines it, the estimator's shape, and the norm of a layer beside numpy's."""

import numpy as np
import pytest
import torch
from torch import nn

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.comet.layers import LayerMix, estimator, normalised, sparsemax


@pytest.mark.parametrize("seed", range(5))
def test_sparsemax_is_the_nearest_distribution(seed: int) -> None:
    """It sums to 1, and no distribution among many is nearer; far weights get nothing."""
    weights = torch.randn(5, generator=torch.Generator().manual_seed(seed))
    shares = sparsemax(weights)
    assert float(shares.sum()) == pytest.approx(1)
    assert bool((shares >= 0).all())
    chance = np.random.default_rng(seed)
    distributions = torch.from_numpy(chance.dirichlet(np.ones(5), 5000)).float()
    nearby = (shares + 0.01 * (distributions - shares)) - weights
    assert float((shares - weights).norm()) <= float(nearby.norm(dim=1).min()) + 1e-6
    assert sparsemax(torch.tensor([3.0, 0.0, 1.0])).tolist() == [1.0, 0.0, 0.0]


def test_a_mix_by_hand() -> None:
    mix = LayerMix(2, "softmax", norm=False)
    with torch.no_grad():
        mix.scalar_parameters[1].fill_(np.log(3.0))
        mix.gamma.fill_(2.0)
    layers = [torch.ones(1, 2, 3), torch.full((1, 2, 3), 5.0)]
    assert mix(layers, torch.ones(1, 2)).unique().tolist() == pytest.approx([2 * (0.25 * 1 + 0.75 * 5)])


def test_padding_has_no_part_in_the_norm() -> None:
    layer = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(1))
    mask = torch.tensor([[1.0, 1, 1, 1], [1, 1, 0, 0]])
    sentence = layer[1, :2].numpy()
    by_hand = (sentence - sentence.mean()) / sentence.std()
    assert normalised(layer, mask)[1, :2].numpy() == pytest.approx(by_hand, abs=1e-5)


def test_an_activation_that_is_no_such_is_refused() -> None:
    assert [type(each) for each in estimator(4, [3], "Tanh", None)] == [nn.Linear, nn.Tanh, nn.Identity, nn.Linear]
    with pytest.raises(UserError, match="activations transformer is not one of tanh, sigmoid, identity"):
        estimator(4, [3], "Transformer", None)
