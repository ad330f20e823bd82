"""Relative positions against the formula of Shaw et al. 2018, pair by pair; with patterns in test_pattern.py."""

import math

import pytest
import torch
from test_attention_pattern import HEADS, PADDING, WIDTH, layers
from torch import Tensor

from realformer_nmt.model.attention.attention import SelfAttention

REACH, DEPTH = 2, WIDTH // HEADS


def scores_by_hand(layer: SelfAttention, x: Tensor) -> Tensor:
    """q_i (k_j + a_clip(j - i)) / sqrt(D) of a text, H x T x T."""
    query, key = (part(x).view(len(x), HEADS, DEPTH) for part in (layer.q_proj, layer.k_proj))
    rows = []
    for head in range(HEADS):
        for i in range(len(x)):
            for j in range(len(x)):
                away = layer.positions.keys[max(-REACH, min(REACH, j - i)) + REACH]
                rows.append(query[i, head] @ (key[j, head] + away) / math.sqrt(DEPTH))
    return torch.stack(rows).view(HEADS, len(x), len(x))


def by_hand(stack: list[SelfAttention], carry: str, x: Tensor) -> Tensor:
    total = torch.zeros(())
    for depth, layer in enumerate(stack, 1):
        scores = scores_by_hand(layer, x)
        total = scores if carry == "none" else total + scores
        shares = (total / depth if carry == "mean" else total).softmax(-1)
        value = layer.v_proj(x).view(len(x), HEADS, DEPTH).transpose(0, 1)
        x = layer.out_proj((shares @ value).transpose(0, 1).flatten(1))
    return x


@pytest.mark.parametrize("carry", ["none", "sum", "mean"])
def test_outputs_and_gradients_are_those_of_the_formula(carry: str) -> None:
    stack = layers(carry, REACH)
    torch.manual_seed(6)
    texts = torch.randn(2, PADDING.size(-1), WIDTH, requires_grad=True)
    output, carried = texts, ()
    for layer in stack:
        output, carried, _ = layer(output, output, PADDING, carried, weights=False)
    real, keys = ~PADDING[:, 0, 0], [layer.positions.keys for layer in stack]
    expected = torch.cat([by_hand(stack, carry, text[rows]) for text, rows in zip(texts, real, strict=True)])
    actual = output[real]
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
    inputs = [texts, *(parameter for layer in stack for parameter in layer.parameters())]
    gradients, expected_gradients = (
        torch.autograd.grad(y.square().mean(), inputs, retain_graph=True) for y in (actual, expected)
    )
    for one, other in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)
    assert all(bool(each.any()) for each in torch.autograd.grad(actual[0].sum(), keys))
