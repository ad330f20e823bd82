"""Attention through three layers against plain tensor code: projections, masks, softmax, carried scores."""

import math

import pytest
import torch
from torch import Tensor

from realformer_nmt.model.attention.attention import Attention, CrossAttention, SelfAttention
from realformer_nmt.model.attention.carry import CARRIES, Carried
from realformer_nmt.model.attention.scores import build_source
from realformer_nmt.model.scaling import Gains

HEADS, D = 2, 4
MASKS = {
    "padding": torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=torch.bool)[:, None, None],
    "causal": torch.ones(5, 5, dtype=torch.bool).triu(1),
}


def layer(kind: type[Attention], carry: str, depth: int) -> Attention:
    built = kind(
        build_source("dot", HEADS, D, 1), CARRIES[carry], depth, memory_width=HEADS * D, dropout=0.0, gains=Gains()
    )
    for parameter in built.parameters():
        torch.nn.init.normal_(parameter)
    return built


def by_hand(
    attention: Attention,
    x: Tensor,
    memory: Tensor,
    mask: Tensor,
    totals: list[Tensor],
    divisor: int,
    first_values: Tensor | None,
) -> Tensor:
    """One layer of residual attention, a head at a time; its scores are appended to totals, never masked."""

    def project(name: str, value: Tensor) -> Tensor:
        return value @ attention.get_parameter(f"{name}.weight").T + attention.get_parameter(f"{name}.bias")

    heads, scores = [], []
    for h in range(HEADS):
        q, k, v = (
            project(name, value)[..., h * D : (h + 1) * D]
            for name, value in [("q_proj", x), ("k_proj", memory), ("v_proj", memory)]
        )
        if first_values is not None:
            v = (v + first_values[..., h * D : (h + 1) * D]) / 2
        scores.append(torch.einsum("btd,bsd->bts", q, k) / math.sqrt(D))
        logits = sum(total[h] for total in totals) + scores[h]
        allowed = (~mask).expand(x.size(0), 1, x.size(1), memory.size(1))[:, 0]
        weights = torch.exp(logits / divisor) * allowed
        heads.append(weights / weights.sum(-1, keepdim=True) @ v)
    totals.append(torch.stack(scores))
    return project("out_proj", torch.cat(heads, -1))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", [SelfAttention, CrossAttention])
@pytest.mark.parametrize("carry", [carry for carry in CARRIES if "lazy" not in carry])  # which test_carry.py has
def test_three_layers(carry: str, kind: type[Attention], mask: str) -> None:
    torch.manual_seed(4)
    x, memory = torch.randn(2, 2, 5, HEADS * D)
    carried: Carried = ()
    totals: list[torch.Tensor] = []
    first_values = torch.empty(0)
    for depth in (1, 2, 3):
        seen = x if kind is SelfAttention else memory
        attention = layer(kind, carry, depth)
        first_values = attention.v_proj(seen) if depth == 1 else first_values
        divisor = depth if "mean" in carry else 1
        expected = by_hand(
            attention, x, seen, MASKS[mask], totals, divisor, first_values if "first_values" in carry else None
        )
        attended = attention(x, seen, MASKS[mask], carried)
        torch.testing.assert_close(attended.output, expected, rtol=1e-4, atol=1e-4)
        x, carried = attended.output * 0.1, attended.carried
        totals = totals if {"sum", "mean"} & set(carry.split("+")) else []


def test_without_a_dot_product_only_values_and_outputs_are_projected() -> None:
    attention = SelfAttention(
        build_source("random", HEADS, D, 5), CARRIES["none"], 1, memory_width=HEADS * D, dropout=0.0, gains=Gains()
    )
    assert {name for name, _ in attention.named_parameters() if "proj" in name} == {
        f"{name}.{kind}" for name in ("v_proj", "out_proj") for kind in ("weight", "bias")
    }
