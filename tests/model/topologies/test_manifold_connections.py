"""Manifold-constrained hyper-connections against their formula over three layers, and what they start as."""

import pytest
import torch
from formulas.topologies import BRANCHES, Pass, W, X, normalise
from tiny_models.tiny import build
from torch import Tensor

from realformer_nmt.model.topologies.manifold_connections import ManifoldHyper, doubly_stochastic


def sinkhorn(logits: Tensor) -> Tensor:
    """One matrix, entry by entry: rows first, then columns, twenty times."""
    matrix = torch.exp(logits.double())
    for _ in range(20):
        for row in range(4):
            matrix[row] /= matrix[row].sum()
        for column in range(4):
            matrix[:, column] /= matrix[:, column].sum()
    return matrix.float()


def test_streams_are_mixed_by_doubly_stochastic_matrices() -> None:
    with torch.no_grad():
        done = Pass(ManifoldHyper)
        streams = torch.stack([X] * 4, 2)  # B x T x n x C
        for f, norm in zip(BRANCHES, done.norms, strict=True):
            everything = streams.flatten(2)
            rms = everything / (everything.square().mean(-1, keepdim=True) + 1e-6).sqrt()
            raw = rms @ norm.map.t()
            read, write, carry = raw.split([4, 4, 16], -1)
            a = torch.sigmoid(norm.scales[0] * read + norm.bias[:4])
            b = 2 * torch.sigmoid(norm.scales[1] * write + norm.bias[4:8])
            logits = (norm.scales[2] * carry + norm.bias[8:]).view(-1, 4, 4)
            mixing = torch.stack([sinkhorn(each) for each in logits]).view(2, 3, 4, 4)
            branch = f(normalise(torch.einsum("btn,btnc->btc", a, streams), norm.input_norm))
            carried = torch.einsum("btnm,btnc->btmc", mixing, streams)
            streams = W * carried + torch.einsum("btn,btc->btnc", b, branch)
        torch.testing.assert_close(done.output, normalise(streams.mean(2), done.final), rtol=1e-3, atol=1e-3)


def test_rows_and_columns_sum_to_one() -> None:
    matrices = doubly_stochastic(torch.randn(5, 4, 4))
    torch.testing.assert_close(matrices.sum(-2), torch.ones(5, 4), rtol=0, atol=1e-4)
    torch.testing.assert_close(matrices.sum(-1), torch.ones(5, 4), rtol=0, atol=1e-3)
    assert matrices.min() > 0


def test_it_starts_with_half_of_the_streams_and_a_uniform_mixture() -> None:
    norm, streams = build(residual_topology="mhc").encoder.layers[0].self_attn_layer_norm, torch.randn(2, 3, 4, 8)
    for part, value in [("reading", 1 / 2), ("writing", 1), ("carrying", 1 / 4)]:
        weights = norm(part, streams)
        torch.testing.assert_close(weights, torch.full_like(weights, value), rtol=0, atol=0.05)


@pytest.mark.parametrize("part", ["reading", "writing", "carrying"])
def test_under_autocast_the_weights_are_not_of_16_bits(part: str) -> None:
    norm, streams = build(residual_topology="mhc").encoder.layers[0].self_attn_layer_norm, torch.randn(2, 3, 4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        under_autocast = norm(part, streams)
    assert torch.equal(under_autocast, norm(part, streams))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_squares_and_exponentials_are_in_fp32(dtype: torch.dtype) -> None:
    model = build(residual_topology="mhc").to(dtype)
    norm = model.encoder.layers[0].self_attn_layer_norm
    streams = torch.full((1, 2, 4, 8), 3e4, dtype=dtype)
    assert all(norm(part, streams).isfinite().all() for part in ("reading", "writing", "carrying"))
