"""Manifold-constrained hyper-connections against their formula over three layers, and what they start as."""

import pytest
import torch
from tiny_models.tiny import build


def test_it_starts_with_half_of_the_streams_and_a_uniform_mixture() -> None:
    norm, streams = build(residual_topology="mhc").encoder.layers[0].self_attn_layer_norm, torch.randn(2, 3, 4, 8)
    for part, value in [("reading", 1 / 2), ("writing", 1), ("carrying", 1 / 4)]:
        weights = norm(part, streams)
        torch.testing.assert_close(weights, torch.full_like(weights, value), rtol=0, atol=0.05)


@pytest.mark.parametrize("topology", ["mhc", "mhc_lite"])
@pytest.mark.parametrize("part", ["reading", "writing", "carrying"])
def test_under_autocast_the_weights_are_not_of_16_bits(part: str, topology: str) -> None:
    norm, streams = build(residual_topology=topology).encoder.layers[0].self_attn_layer_norm, torch.randn(2, 3, 4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        under_autocast = norm(part, streams)
    assert torch.equal(under_autocast, norm(part, streams))


@pytest.mark.parametrize("topology", ["mhc", "mhc_lite"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_squares_and_exponentials_are_in_fp32(dtype: torch.dtype, topology: str) -> None:
    model = build(residual_topology=topology).to(dtype)
    norm = model.encoder.layers[0].self_attn_layer_norm
    streams = torch.full((1, 2, 4, 8), 3e4, dtype=dtype)
    assert all(norm(part, streams).isfinite().all() for part in ("reading", "writing", "carrying"))
