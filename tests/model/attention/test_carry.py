"""Carries that leave layers without scores, over three layers and against their formulas."""

import pytest
import torch
from formulas.attention_by_hand import CHAINS, HEADS, MASKS, D, attentions, output, raw_scores, softmax, values
from tiny_models.tiny import build

from realformer_nmt.model.attention.carry import CARRIES, Carried


@pytest.mark.parametrize("carry", ["lazy", "mean+lazy"])
@pytest.mark.parametrize("chain", ["encoder", "decoder"])
def test_every_second_layer_has_the_probabilities_of_the_one_below(chain: str, carry: str) -> None:
    mask, layers = MASKS[CHAINS[chain][1]], attentions(chain, carry)
    x = torch.randn(2, 5, HEADS * D)
    carried: Carried = ()
    first = torch.zeros(())
    for depth, layer in enumerate(layers, 1):
        if depth == 1:
            first = logits = raw_scores(layer, x, x)
        if depth == 3:
            logits = raw_scores(layer, x, x)
            logits = (first + logits) / 2 if carry == "mean+lazy" else logits
        attended = layer(x, x, mask, carried)
        expected = output(layer, values(layer, softmax(logits, mask), x))
        torch.testing.assert_close(attended.output, expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(attended.probabilities, softmax(logits, mask), rtol=1e-4, atol=1e-5)
        x, carried = attended.output * 0.1, attended.carried


def test_self_attention_without_scores_has_no_queries_and_keys() -> None:
    model = build(score_carry="lazy", encoder_layers=4, encoder_relative_positions=3)
    stacks = [(model.encoder, "self_attn"), (model.decoder, "self_attn"), (model.decoder, "encoder_attn")]
    for stack, name in stacks:
        for depth, layer in enumerate(stack.layers, 1):
            parts = {parameter.split(".")[0] for parameter, _ in getattr(layer, name).named_parameters()}
            scored = {"q_proj", "k_proj"} | ({"positions"} if stack is model.encoder else set())
            assert parts == {"v_proj", "out_proj"} | (scored if depth % 2 or name == "encoder_attn" else set())


def test_encoder_decoder_attention_is_not_lazy() -> None:
    for carry, expected in [("lazy", "none"), ("mean+lazy", "mean"), ("sum", "sum")]:
        attention = build(score_carry=carry).decoder.layers[1].encoder_attn
        assert type(attention.carry) is type(CARRIES[expected])
