"""Topologies beside their formulas, which test_authors_code.py compares: where norms stand, what a model starts as."""

import pytest
import torch
from formulas.topologies import BRANCHES, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import nn

from realformer_nmt.model.topologies.branch_norms import Keel
from realformer_nmt.model.topologies.hybrid_norm import HybridNorm
from realformer_nmt.model.topologies.norm_former import HeadGains
from realformer_nmt.model.topologies.norms_by_depth import MixLN
from realformer_nmt.model.topologies.permutation_connections import PermutationMean
from realformer_nmt.model.topologies.topology import Place, Stack

WEIGHTS = ("reading", "writing", "carrying")  # of streams


def test_keel() -> None:
    done, x = Pass(Keel), X
    for f, norm in zip(BRANCHES, done.norms, strict=True):
        x = normalise(W * x + f(normalise(x, norm.before)), norm.after)
    torch.testing.assert_close(done.output, x)


def test_sub_ln_leaves_encoder_decoder_attention_as_it_is() -> None:
    names = [name for name, _ in build(residual_topology="sub_ln").decoder.layers[0].named_parameters()]
    assert {"self_attn.head_output.norm.weight", "hidden_norm.bias"} < set(names)
    assert not [name for name in names if name.startswith("encoder_attn.head_output")]


def test_mix_ln_is_post_ln_in_a_quarter_of_the_layers() -> None:
    for layers, quarter in [(2, 1), (6, 1), (12, 3), (18, 4), (60, 15)]:
        topology = MixLN(Stack("decoder", 6, layers), 8)
        places = [Place(depth, 0, last=False) for depth in range(1, layers + 1)]
        assert [topology.is_post(place) for place in places] == [True] * quarter + [False] * (layers - quarter)


def test_a_gain_of_norm_former_is_of_a_head() -> None:
    gains, heads = HeadGains(2), torch.randn(2, 3, 8)
    with torch.no_grad():
        gains.gains.copy_(torch.tensor([2.0, -3.0]))
    expected = torch.cat([2 * heads[..., :4], -3 * heads[..., 4:]], -1)
    torch.testing.assert_close(gains(heads, heads), expected)


def test_a_decoder_layer_of_hybrid_norm_has_its_norm_before_the_feed_forward_block() -> None:
    topology = HybridNorm(Stack("decoder", 2, 2), 8)
    norms = [topology.norm(Place(number // 3 + 1, number, last=number % 3 == 2)) for number in range(6)]
    assert [len([*norm.parameters()]) for norm in norms] == [0, 2, 0, 0, 2, 0]


def test_hybrid_norm_norms_queries_keys_and_values_in_every_attention() -> None:
    model = build(residual_topology="hybrid_norm")
    norms = [name.rpartition(".head_norms.") for name, _ in model.named_parameters() if "head_norms" in name]
    assert len({attention for attention, *_ in norms}) == 6
    parts = ("query", "key", "value")
    assert {norm for *_, norm in norms} == {f"{part}.{kind}" for part in parts for kind in ("weight", "bias")}


def test_a_synthesizer_norms_no_queries_that_it_does_not_have() -> None:
    model = build(residual_topology="hybrid_norm", score_source="random")
    names = [name for name, _ in model.named_parameters() if "self_attn.head_norms" in name]
    assert {name.split(".")[-2] for name in names} == {"value"}
    assert model(SOURCE, None, PREVIOUS)[0].isfinite().all()


def test_rezero_starts_as_the_embedding() -> None:
    model = build(residual_topology="rezero")
    assert not [name for name, _ in model.named_parameters() if "norm" in name]
    assert [tuple(side.topology.weights.shape) for side in (model.encoder, model.decoder)] == [(2,), (2,)]
    features, _ = model.decoder(PREVIOUS, model.encoder(SOURCE), features_only=True)
    words = model.decoder
    embedded = words.embed_scale * words.embed_tokens(PREVIOUS) + words.embed_positions(PREVIOUS)
    torch.testing.assert_close(features, embedded)


def test_gpas_starts_as_pre_ln() -> None:
    gpas, pre = build(residual_topology="gpas"), build(residual_topology="pre")
    gpas.load_state_dict(pre.state_dict(), strict=False)
    torch.testing.assert_close(gpas(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0])


def test_sub_layers_of_hyper_connections_read_one_stream_after_the_other() -> None:
    decoder = build(residual_topology="hyper_static").decoder
    norms = [
        getattr(layer, f"{name}_layer_norm")
        for layer in decoder.layers
        for name in ("self_attn", "encoder_attn", "final")
    ]
    read = [norm.static_alpha[:, 0].nonzero().item() for norm in norms]
    assert read == [0, 1, 2, 3, 0, 1]


def test_mhc_starts_with_half_of_the_streams_and_a_uniform_mixture() -> None:
    norm, streams = build(residual_topology="mhc").encoder.layers[0].self_attn_layer_norm, torch.randn(2, 3, 4, 8)
    for part, value in zip(WEIGHTS, (1 / 2, 1, 1 / 4), strict=True):
        weights = norm(part, streams)
        torch.testing.assert_close(weights, torch.full_like(weights, value), rtol=0, atol=0.05)


@pytest.mark.parametrize("topology", ["mhc", "mhc_lite"])
@pytest.mark.parametrize("part", WEIGHTS)
def test_under_autocast_the_weights_are_not_of_16_bits(part: str, topology: str) -> None:
    norm, streams = build(residual_topology=topology).encoder.layers[0].self_attn_layer_norm, torch.randn(2, 3, 4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        under_autocast = norm(part, streams)
    assert torch.equal(under_autocast, norm(part, streams))


@pytest.mark.parametrize("topology", ["mhc", "mhc_lite"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_squares_and_exponentials_are_in_fp32(dtype: torch.dtype, topology: str) -> None:
    norm = build(residual_topology=topology).to(dtype).encoder.layers[0].self_attn_layer_norm
    streams = torch.full((1, 2, 4, 8), 3e4, dtype=dtype)
    assert all(norm(part, streams).isfinite().all() for part in WEIGHTS)


def test_mhc_lite_starts_with_one_stream_first_and_almost_the_identity() -> None:
    """sigmoid(1) = 0.731 and sigmoid(-1) = 0.269; of exp(0) and 23 exp(-8) a quarter of the latter moves no stream."""
    fifth, streams = PermutationMean(nn.Identity(), 8, 5), torch.randn(2, 3, 4, 8)
    fifth.scales.data.fill_(1)
    one, other = 0.73106, 0.26894
    expected = torch.tensor([other, one, other, other]).expand(2, 3, 4)
    torch.testing.assert_close(fifth("reading", streams), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(fifth("writing", streams), 2 * expected, rtol=0, atol=1e-5)
    away = 18 * torch.tensor(-8.0).exp() / (1 + 23 * torch.tensor(-8.0).exp())  # 18 of 24 permutations move a stream
    start = torch.full((4, 4), float(away) / 3).fill_diagonal_(1 - float(away))
    torch.testing.assert_close(fifth("carrying", streams), start.expand(2, 3, 4, 4), rtol=0, atol=1e-5)
