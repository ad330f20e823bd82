"""Attention through three layers against plain tensor code: projections, masks, softmax, carried scores and values.

test_carry.py has layers without scores, test_depth_pairs.py pairs of the layers below.
"""

import pytest
import torch
from formulas.attention_by_hand import CHAINS, HEADS, MASKS, D, attentions, output, raw_scores, softmax, values

from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.carry import CARRIES, Carried


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("carry", [each for each in CARRIES if not each.endswith(("lazy", "moda", "feed_forward"))])
def test_three_layers(carry: str, chain: str) -> None:
    kind, mask = CHAINS[chain][0], MASKS[CHAINS[chain][1]]
    x, memory = torch.randn(2, 2, 5, HEADS * D)
    first, *_ = layers = attentions(chain, carry)
    first_seen = x if kind is SelfAttention else memory
    carried: Carried = ()
    total = torch.zeros(())
    for depth, layer in enumerate(layers, 1):
        seen = x if kind is SelfAttention else memory
        total = raw_scores(layer, x, seen) + (total if {"sum", "mean"} & set(carry.split("+")) else 0)
        weights = softmax(total / (depth if "mean" in carry else 1), mask)
        mixed = values(layer, weights, seen)
        if "first_values" in carry:
            mixed = (mixed + values(first, weights, first_seen)) / 2
        attended = layer(x, seen, mask, carried)
        torch.testing.assert_close(attended.output, output(layer, mixed), rtol=1e-4, atol=1e-4)
        x, carried = attended.output * 0.1, attended.carried
