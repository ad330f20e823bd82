"""Kinds of heads against their formulas over three layers, and checkpoints of when they were topologies."""

import math
from collections.abc import Iterator

import pytest
import torch
from formulas.attention_by_hand import (
    CHAINS,
    HEADS,
    LAYERS,
    MASKS,
    D,
    attentions,
    heads,
    output,
    project,
    raw_scores,
    softmax,
    values,
)
from formulas.prepared_beams import beams_before_and_after
from tiny_models.tiny import PREVIOUS, SOURCE, build, profiled
from torch import Tensor

from realformer_nmt.checkpoints.files.checkpoint_fields import choices
from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.attention.attention import Attended, Attention, SelfAttention
from realformer_nmt.model.attention.carry import Carried
from realformer_nmt.model.part_names import as_recorded
from realformer_nmt.serving import served_models

PRE_LN = {"residual_topology": "pre", "residual_scaling": "none", "score_source": "dot", "score_carry": "none"}


def talked(weight: Tensor, parts: Tensor) -> Tensor:
    """Head g gets sum_h weight[g, h] parts[h]."""
    rows = [sum(row[head] * parts[:, head] for head in range(HEADS)) for row in weight]
    return torch.stack(rows, 1)


def layers_with_scores(chain: str, carry: str, kind: str) -> Iterator[tuple[Attention, Tensor, Tensor, Attended]]:
    """Yield each layer, what it attends to, the scores before its heads see each other, and its own answer."""
    mask, x, memory = MASKS[CHAINS[chain][1]], *torch.randn(2, 2, 5, HEADS * D)
    carried: Carried = ()
    total = torch.zeros(())
    for depth, layer in enumerate(attentions(chain, carry, kind), 1):
        seen = x if CHAINS[chain][0] is SelfAttention else memory
        scores = raw_scores(layer, x, seen)
        total = total + scores
        attended = layer(x, seen, mask, carried)
        yield layer, seen, total / depth if carry == "mean" else scores, attended
        x, carried = attended.output * 0.1, attended.carried


@pytest.mark.parametrize("carry", ["none", "mean"])
@pytest.mark.parametrize("chain", CHAINS)
def test_heads_talk_before_and_after_the_softmax(chain: str, carry: str) -> None:
    for layer, seen, scores, attended in layers_with_scores(chain, carry, "talking"):
        shares = softmax(talked(layer.head_mixing.logit_weight, scores), MASKS[CHAINS[chain][1]])
        weights = talked(layer.head_mixing.probability_weight, shares)
        torch.testing.assert_close(attended.output, output(layer, values(layer, weights, seen)), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(attended.probabilities, shares, rtol=1e-4, atol=1e-5)


def test_talking_heads_start_as_plain_ones() -> None:
    talking, plain = build(heads="talking"), build()
    talking.load_state_dict(plain.state_dict(), strict=False)
    torch.testing.assert_close(talking(SOURCE, None, PREVIOUS)[0], plain(SOURCE, None, PREVIOUS)[0])


def test_kernels_that_hide_the_softmax_leave_mixed_heads_alone() -> None:
    """This holds without dropout, and in beam search of a model that is prepared for it."""
    model = build(residual_topology="pre", heads="talking").eval()
    for name, parameter in model.named_parameters():
        if "head_mixing" in name:
            torch.nn.init.normal_(parameter)
    layer, x = model.encoder.layers[0].self_attn, torch.randn(2, 5, 8)
    torch.testing.assert_close(layer(x, x, None, weights=False).output, layer(x, x, None, weights=True).output)
    before, after = beams_before_and_after(model)
    assert after.tokens == before.tokens
    torch.testing.assert_close(after.scores, before.scores)


@pytest.mark.parametrize("carry", ["none", "mean"])
@pytest.mark.parametrize("chain", CHAINS)
def test_a_pair_of_differential_heads_is_one_of_twice_the_width(chain: str, carry: str) -> None:
    for depth, (layer, seen, scores, attended) in enumerate(layers_with_scores(chain, carry, "differential"), 1):
        shares = softmax(scores, MASKS[CHAINS[chain][1]])
        start = 0.8 - 0.6 * math.exp(-0.3 * (depth - 1))
        q1, k1, q2, k2 = layer.head_mixing.vectors
        t = torch.exp((q1 * k1).sum()) - torch.exp((q2 * k2).sum()) + start
        value, outputs = heads(layer, "v_proj", seen), []
        for pair in range(HEADS // 2):
            both = torch.cat(value[2 * pair : 2 * pair + 2], -1)  # B x S x 2D
            head = (shares[:, 2 * pair] - t * shares[:, 2 * pair + 1]) @ both
            rms = (head.square().mean(-1, keepdim=True) + 1e-5).sqrt()
            outputs.append((1 - start) * head / rms * layer.head_mixing.gain)
        torch.testing.assert_close(attended.output, project(layer, "out_proj", torch.cat(outputs, -1)))


def test_differential_heads_start_as_their_code_does() -> None:
    wide = {"encoder_embed_dim": 512, "decoder_embed_dim": 512}
    layers = build(heads="differential", encoder_layers=LAYERS, **wide).encoder.layers
    vectors = torch.stack([layer.self_attn.head_mixing.vectors for layer in layers])
    assert vectors.std().item() == pytest.approx(0.1, rel=0.1)


def test_an_odd_number_of_differential_heads_is_refused() -> None:
    with pytest.raises(OptionError, match="--encoder-attention-heads 1 does not go with --heads differential, which"):
        build(heads="differential", encoder_attention_heads=1)


@pytest.mark.parametrize("topology", ["pre", "sub_ln"])
def test_gates_read_the_normed_input_and_come_before_the_topologys_step(topology: str) -> None:
    model = profiled(build(residual_topology=topology, heads="gated"))
    seen: dict[Attention, tuple[Tensor, Tensor, Tensor]] = {}
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    assert len(attentions) == 6  # two in the encoder, four in the decoder
    for attention in attentions:
        attention.head_output.register_forward_hook(
            lambda _module, inputs, output, key=attention: seen.update({key: (*inputs, output)})
        )
    model(SOURCE, None, PREVIOUS)
    for attention in attentions:
        x, heads, output = seen[attention]
        step = attention.head_output
        gated = heads / (1 + torch.exp(-(x @ step.gate.weight.T)))
        has_norm = topology == "sub_ln" and isinstance(attention, SelfAttention)
        torch.testing.assert_close(output, step.after.norm(gated) if has_norm else gated)
        torch.testing.assert_close(x.mean(-1), torch.zeros(x.shape[:-1]), atol=1e-5, rtol=0)  # as a norm leaves it


@pytest.mark.parametrize(
    ("topology", "family"),
    [("talking", "talking_heads"), ("differential", "differential"), ("gated", "gated_attention")],
)
def test_a_checkpoint_of_when_the_heads_were_a_topology_is_of_the_family(topology: str, family: str) -> None:
    before, now = PRE_LN | {"residual_topology": topology}, PRE_LN | {"heads": topology}
    assert build(**before).state_dict().keys() == build(**now).state_dict().keys()
    assert choices({"cfg": {"model": before}}) == choices({"cfg": {"model": now}})
    assert choices({"cfg": {"model": PRE_LN}})["heads"] == "plain"
    assert served_models.family(now) == family
    assert as_recorded(now) == before
    assert as_recorded(PRE_LN | {"heads": "plain"}) == PRE_LN
    assert as_recorded(now | {"residual_topology": "post"}) == now | {"residual_topology": "post"}


def test_a_former_topology_with_other_heads_is_refused() -> None:
    with pytest.raises(OptionError, match="--residual-topology talking is not one of"):
        build(residual_topology="talking", heads="gated")
