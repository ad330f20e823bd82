"""Streaming figures against numpy's of all values at once."""

import numpy as np
import pytest
import torch

from realformer_nmt.analysis.measures.histogram import BINS, Distribution

TOP = 3.0


@pytest.fixture
def values() -> torch.Tensor:
    return torch.rand(2, 1000, generator=torch.Generator().manual_seed(1)) ** 2 * TOP


def test_quantiles_and_means_are_those_of_all_values(values: torch.Tensor) -> None:
    distribution = Distribution(2, TOP)
    for part in values.split(170, dim=1):
        distribution.add(part)
    assert np.allclose(distribution.mean(), values.double().numpy().mean(1))
    for share in (0.05, 0.25, 0.5, 0.95):
        assert np.allclose(
            distribution.quantile(share), np.quantile(values.numpy(), share, axis=1), atol=2 * TOP / BINS
        )


def test_an_outline_has_the_shape_of_a_histogram(values: torch.Tensor) -> None:
    distribution = Distribution(2, TOP)
    distribution.add(values)
    for row, outline in zip(values.numpy(), distribution.outline(16).numpy(), strict=True):
        counts, _ = np.histogram(row, 16, (0, TOP))
        assert counts.argmax() == 0
        assert np.allclose(outline, np.minimum(1, counts / counts[1:].max()))


def test_the_ends_of_the_range_belong_to_it() -> None:
    distribution = Distribution(1, TOP)
    distribution.add(torch.tensor([[0.0, TOP, TOP]]))
    assert int(distribution.counts.sum()) == 3
    assert float(distribution.quantile(0.9)) == pytest.approx(TOP, abs=TOP / BINS)
