"""Mixture-of-depths attention against its formula, one query after the other, over three layers."""

from collections.abc import Sequence

import pytest
import torch
from formulas.attention_by_hand import CHAINS, HEADS, MASKS, D, attentions, heads, output
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor

from realformer_nmt.model.attention.attention import Attention
from realformer_nmt.model.attention.carry import Carried, Carry
from realformer_nmt.model.attention.depth_pairs import FeedForwardPair

HeadPairs = list[tuple[Tensor, Tensor]]  # keys and values by head, B x T x D each


def pairs(layer: Attention, x: Tensor) -> HeadPairs:
    return list(zip(heads(layer, "k_proj", x), heads(layer, "v_proj", x), strict=True))


def attended(
    query: Tensor, seen: tuple[Tensor, Tensor], below: Sequence[tuple[Tensor, Tensor]], hidden: Tensor
) -> tuple[Tensor, Tensor]:
    """Return one head's output, D, for one query, and its probabilities of positions."""
    keys = torch.cat([seen[0][~hidden], *(key[None] for key, _ in below)])
    values = torch.cat([seen[1][~hidden], *(value[None] for _, value in below)])
    shares = torch.exp(keys @ query / D**0.5)
    shares = shares / shares.sum()
    shown = torch.zeros(len(hidden)).masked_scatter(~hidden, shares[: int((~hidden).sum())])
    return shares @ values, shown


def by_hand(layer: Attention, x: Tensor, below: list[HeadPairs], mask: Tensor) -> tuple[Tensor, Tensor]:
    sentences, length, _ = x.shape
    mask = mask.expand(sentences, 1, length, length)[:, 0]
    mixed, shown = torch.zeros(sentences, HEADS, length, D), torch.zeros(sentences, HEADS, length, length)
    for head, (query, (key, value)) in enumerate(zip(heads(layer, "q_proj", x), pairs(layer, x), strict=True)):
        for b in range(sentences):
            for t in range(length):
                column = [(keys[b, t], values[b, t]) for keys, values in (layer_pairs[head] for layer_pairs in below)]
                mixed[b, head, t], shown[b, head, t] = attended(query[b, t], (key[b], value[b]), column, mask[b, t])
    return output(layer, mixed), shown


@pytest.mark.parametrize("chain", ["encoder", "decoder"])
def test_one_softmax_is_over_positions_and_the_layers_below_at_ones_own(chain: str) -> None:
    """Gradients, too, which flow into the keys and values of the layers below."""
    mask, layers = MASKS[CHAINS[chain][1]], attentions(chain, "moda")
    start = torch.randn(2, 5, HEADS * D, requires_grad=True)
    x, expected, carried, below = start, start, (), []
    for layer in layers:
        result = layer(x, x, mask, carried)
        hand, shown = by_hand(layer, expected, below, mask)
        torch.testing.assert_close(result.probabilities, shown, rtol=1e-4, atol=1e-5)
        below.append(pairs(layer, expected))
        x, expected, carried = result.output * 0.1, hand * 0.1, result.carried
    torch.testing.assert_close(x, expected, rtol=1e-4, atol=1e-5)
    weights = [start, *(parameter for layer in layers for parameter in layer.parameters())]
    for one, other in zip(*(torch.autograd.grad(y.square().sum(), weights) for y in (x, expected)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_a_first_layer_is_plain_attention() -> None:
    x, mask = torch.randn(2, 5, HEADS * D), MASKS["padding"]
    deep, plain = (attentions("encoder", carry)[0](x, x, mask, ()) for carry in ("moda", "none"))
    assert torch.equal(deep.output, plain.output)


def test_the_pair_of_a_feed_forward_block_is_two_maps_of_its_input() -> None:
    module, x = FeedForwardPair(HEADS * D, HEADS), torch.randn(2, 5, HEADS * D)
    carried: Carried = (torch.zeros(()),)
    first, *pair = module(x, carried)
    assert first is carried[0]
    for part, rows in zip(pair, module.projection.weight.chunk(2), strict=True):
        flat = part.transpose(1, 2).flatten(2)  # B x T x C
        torch.testing.assert_close(flat, x @ rows.T + module.projection.bias.chunk(2)[part is pair[1]])


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_feed_forward_blocks_below_the_last_layer_have_pairs_that_the_layers_above_see(side: str) -> None:
    model = build(score_carry="moda+feed_forward", encoder_layers=3, decoder_layers=3)
    layers, seen = getattr(model, side).layers, []
    assert [isinstance(layer.ffn_pair, FeedForwardPair) for layer in layers] == [True, True, False]
    for layer in layers:
        layer.self_attn.register_forward_hook(lambda _module, args, _result: seen.append(len(args[3])))
    model(SOURCE, None, PREVIOUS)
    assert seen == [0, 4, 8]  # keys and values of attention and of a feed-forward block per layer


def test_encoder_decoder_attention_has_no_pairs() -> None:
    assert type(build(score_carry="moda").decoder.layers[1].encoder_attn.carry) is Carry
