"""Talking heads against their formula over three layers, and against Pre-LN before the first update."""

import pytest
import torch
from formulas.attention_by_hand import CHAINS, HEADS, MASKS, D, attentions, output, raw_scores, softmax, values
from formulas.prepared_beams import beams_before_and_after
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor

from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.carry import Carried
from realformer_nmt.model.topologies.talking_heads import Talking


def talked(weight: Tensor, parts: Tensor) -> Tensor:
    """Head g gets sum_h weight[g, h] parts[h]."""
    rows = [sum(row[head] * parts[:, head] for head in range(HEADS)) for row in weight]
    return torch.stack(rows, 1)


@pytest.mark.parametrize("carry", ["none", "mean"])
@pytest.mark.parametrize("chain", CHAINS)
def test_heads_talk_before_and_after_the_softmax(chain: str, carry: str) -> None:
    kind, mask = CHAINS[chain][0], MASKS[CHAINS[chain][1]]
    layers = attentions(chain, Talking, carry)
    x, memory = torch.randn(2, 2, 5, HEADS * D)
    carried: Carried = ()
    total = torch.zeros(())
    for depth, layer in enumerate(layers, 1):
        seen = x if kind is SelfAttention else memory
        scores = raw_scores(layer, x, seen)
        total = total + scores
        mixing = layer.head_mixing
        logits = talked(mixing.logit_weight, total / depth if carry == "mean" else scores)
        weights = talked(mixing.probability_weight, softmax(logits, mask))
        attended = layer(x, seen, mask, carried)
        torch.testing.assert_close(attended.output, output(layer, values(layer, weights, seen)), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(attended.probabilities, softmax(logits, mask), rtol=1e-4, atol=1e-5)
        x, carried = attended.output * 0.1, attended.carried


def test_they_start_as_pre_ln() -> None:
    talking, pre = build(residual_topology="talking"), build(residual_topology="pre")
    talking.load_state_dict(pre.state_dict(), strict=False)
    torch.testing.assert_close(talking(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0])


def test_kernels_that_hide_the_softmax_leave_them_alone() -> None:
    """This holds without dropout, and in beam search of a model that is prepared for it."""
    model = build(residual_topology="talking").eval()
    for name, parameter in model.named_parameters():
        if "head_mixing" in name:
            torch.nn.init.normal_(parameter)
    layer, x = model.encoder.layers[0].self_attn, torch.randn(2, 5, 8)
    torch.testing.assert_close(layer(x, x, None, weights=False).output, layer(x, x, None, weights=True).output)
    before, after = beams_before_and_after(model)
    assert after.tokens == before.tokens
    torch.testing.assert_close(after.scores, before.scores)
