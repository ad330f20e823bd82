"""Differential attention against its formula over three layers, head by head."""

import math

import pytest
import torch
from formulas.attention_by_hand import CHAINS, HEADS, LAYERS, MASKS, D, attentions, heads, project, raw_scores, softmax
from tiny_models.tiny import build

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.carry import Carried
from realformer_nmt.model.topologies.differential import Differential


@pytest.mark.parametrize("carry", ["none", "mean"])
@pytest.mark.parametrize("chain", CHAINS)
def test_a_pair_of_heads_is_one_of_twice_the_width(chain: str, carry: str) -> None:
    kind, mask = CHAINS[chain][0], MASKS[CHAINS[chain][1]]
    x, memory = torch.randn(2, 2, 5, HEADS * D)
    carried: Carried = ()
    total = torch.zeros(())
    for depth, layer in enumerate(attentions(chain, Differential, carry), 1):
        seen = x if kind is SelfAttention else memory
        scores = raw_scores(layer, x, seen)
        total = total + scores
        shares = softmax(total / depth if carry == "mean" else scores, mask)
        start = 0.8 - 0.6 * math.exp(-0.3 * (depth - 1))
        q1, k1, q2, k2 = layer.head_mixing.vectors
        t = torch.exp((q1 * k1).sum()) - torch.exp((q2 * k2).sum()) + start
        value, outputs = heads(layer, "v_proj", seen), []
        for pair in range(HEADS // 2):
            both = torch.cat(value[2 * pair : 2 * pair + 2], -1)  # B x S x 2D
            head = (shares[:, 2 * pair] - t * shares[:, 2 * pair + 1]) @ both
            rms = (head.square().mean(-1, keepdim=True) + 1e-5).sqrt()
            outputs.append((1 - start) * head / rms * layer.head_mixing.gain)
        attended = layer(x, seen, mask, carried)
        torch.testing.assert_close(attended.output, project(layer, "out_proj", torch.cat(outputs, -1)))
        x, carried = attended.output * 0.1, attended.carried


def test_it_starts_as_its_code_does() -> None:
    layers = build(
        residual_topology="differential", encoder_layers=LAYERS, encoder_embed_dim=512, decoder_embed_dim=512
    ).encoder.layers
    starts = [layer.self_attn.head_mixing.start for layer in layers]
    assert starts == pytest.approx([0.2, 0.8 - 0.6 * math.exp(-0.3), 0.8 - 0.6 * math.exp(-0.6)])
    vectors = torch.stack([layer.self_attn.head_mixing.vectors for layer in layers])
    assert vectors.std().item() == pytest.approx(0.1, rel=0.1)


def test_an_odd_number_of_heads_is_refused() -> None:
    with pytest.raises(OptionError, match="--encoder-attention-heads 1 is odd"):
        build(residual_topology="differential", encoder_attention_heads=1)
