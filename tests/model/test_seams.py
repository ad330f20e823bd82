"""Variants of one class and one row each, here or in the package: what the parts of a model may ask for."""

from typing import Any

import pytest
import torch
from tiny_models.tiny import PAD, PREVIOUS, SOURCE, build, profiled, step_by_step
from torch import Tensor, nn

from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.attention.carry import Carried, FirstValues
from realformer_nmt.model.attention.scores import build_source
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS, Gains, Scaling
from realformer_nmt.model.topologies.long_shortcuts import BottomToTop
from realformer_nmt.model.topologies.shortcuts import Plain, Shortcut
from realformer_nmt.model.topologies.topology import Place, Stack, Stream, Topology

WIDTH = 6
REAL = PREVIOUS != PAD


class BothSides(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)


class Peri(Topology):
    """x = shortcut(x, g * LN(f(LN(x)))), g a number a sub-layer: Peri-LN (Kim et al. 2025) with a gain of its own."""

    renormalises = False

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.gain = nn.Parameter(torch.linspace(0.5, 1.5, stack.sublayers))

    def norm(self, _place: Place) -> nn.Module:
        return BothSides(self.width)

    def final_norm(self) -> nn.Module:
        return nn.LayerNorm(self.width)

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        return norm.before(stream[0])

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        return (shortcut(stream[0], self.gain[place.number] * norm.after(branch)),)


def shrinking(_stack: Stack) -> Scaling:
    """The gain of the branch is 1 / sqrt(depth): depth-scaled initialisation (Zhang et al. 2019)."""
    return Scaling(lambda _width, _number: Plain(), lambda depth: Gains(output=depth**-0.5))


VARIANTS: dict[str, dict[str, Any]] = {
    "b2t": {"residual_topology": "b2t"},
    "peri": {"residual_topology": "peri"},
    "first_values": {"score_carry": "first_values"},
    "shrinking": {"residual_scaling": "shrinking"},
    "etc": {
        "encoder_attention_pattern": "global_local",
        "encoder_window": 2,
        "encoder_global_tokens": 1,
        "encoder_relative_positions": 3,
        "score_carry": "mean",
    },
    "all": {"residual_topology": "peri", "score_carry": "first_values", "residual_scaling": "shrinking"},
}


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOPOLOGIES, "peri", Peri)
    monkeypatch.setitem(SCALINGS, "shrinking", shrinking)


@pytest.fixture(params=VARIANTS)
def model(request: pytest.FixtureRequest, _rows: None) -> TranslationModel:
    return profiled(build(**VARIANTS[request.param]))


def same(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def test_cached_decoding_equals_a_whole_pass(model: TranslationModel) -> None:
    encoder_out = model.encoder(SOURCE)
    whole, _ = model.decoder(PREVIOUS, encoder_out)
    assert same(step_by_step(model, encoder_out, PREVIOUS)[REAL], whole[REAL])


def test_a_sentence_alone_equals_itself_in_a_padded_batch(model: TranslationModel) -> None:
    together, _ = model(SOURCE, None, PREVIOUS)
    alone, _ = model(SOURCE[:1, 3:], None, PREVIOUS[:1, :3])
    assert same(together[:1, :3], alone)


def test_beams_that_move_go_on_from_their_own_words(model: TranslationModel) -> None:
    order, encoder_out = torch.tensor([2, 0, 2, 1]), model.encoder(SOURCE)
    state: dict[str, Decoding] = {}
    for end in (1, 2):
        model.decoder(PREVIOUS[:, :end], encoder_out, incremental_state=state)
    model.decoder.reorder_incremental_state_scripting(state, order)
    moved = model.encoder.reorder_encoder_out(encoder_out, order)
    third, _ = model.decoder(PREVIOUS[order, :3], moved, incremental_state=state)
    assert same(third, model(SOURCE[order], None, PREVIOUS[order, :3])[0][:, 2:])


def test_gradients_are_the_same_with_checkpointed_activations(model: TranslationModel) -> None:
    gradients = []
    for checkpointed in (False, True):
        model.encoder.checkpoint_activations = model.decoder.checkpoint_activations = checkpointed
        loss = model(SOURCE, None, PREVIOUS)[0][REAL].log_softmax(-1).square().sum()
        gradients.append(torch.autograd.grad(loss, [*model.parameters()]))
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))
    assert all(
        gradient.isfinite().all() and (gradient.abs().max() > 0 or name.endswith("k_proj.bias"))
        for (name, _), gradient in zip(model.named_parameters(), gradients[0], strict=True)
    )


def test_their_weights_are_saved_and_loaded(model: TranslationModel) -> None:
    state = {name: weight + 1 for name, weight in model.state_dict().items()}
    model.load_state_dict(state)
    assert all(torch.equal(weight, state[name]) for name, weight in model.state_dict().items())


def test_a_topology_of_parameters_and_two_norms_names_each_once() -> None:
    names = [name for name, _ in build(residual_topology="peri").encoder.named_parameters()]
    assert [name for name in names if name.startswith("topology")] == ["topology.gain"]
    assert {"layers.0.self_attn_layer_norm.before.weight", "layers.1.final_layer_norm.after.bias"} < set(names)


def branches(number: int) -> tuple[list[nn.Module], Tensor]:
    torch.manual_seed(3)
    return [nn.Linear(WIDTH, WIDTH) for _ in range(number)], torch.randn(2, 3, WIDTH)


def run(topology: Topology, sublayers: list[nn.Module], x: Tensor, layer: int) -> tuple[Tensor, list[nn.Module]]:
    places = [Place(number // layer + 1, number, number % layer == layer - 1) for number in range(len(sublayers))]
    norms, stream = [topology.norm(place) for place in places], topology.enter(x)
    for parameter in (p for norm in norms for p in norm.parameters()):
        nn.init.normal_(parameter)
    for branch, norm, place in zip(sublayers, norms, places, strict=True):
        stream = topology.write(stream, branch(topology.read(stream, norm, place)), Plain(), norm, place)
    return stream[0], norms


def test_what_is_told_the_end_of_a_layer_against_its_formula() -> None:
    sublayers, x = branches(4)
    actual, norms = run(BottomToTop(Stack("encoder", 2, 2), WIDTH), sublayers, x, layer=2)
    for first in (0, 2):
        middle = norms[first](x + sublayers[first](x))
        x = norms[first + 1](middle + sublayers[first + 1](middle) + x)
    torch.testing.assert_close(actual, x)


def test_what_has_two_norms_and_parameters_against_its_formula() -> None:
    sublayers, x = branches(4)
    topology = Peri(Stack("encoder", 2, 2), WIDTH)
    actual, norms = run(topology, sublayers, x, layer=2)
    for branch, norm, gain in zip(sublayers, norms, topology.gain, strict=True):
        x = x + gain * norm.after(branch(norm.before(x)))
    torch.testing.assert_close(actual, x)


def test_carried_values_against_their_formula() -> None:
    torch.manual_seed(4)
    source = build_source("dot", 2, 3, 1)
    layers = [
        SelfAttention(source, FirstValues(), depth, memory_width=6, dropout=0.0, gains=Gains()) for depth in (1, 2)
    ]
    x = torch.randn(2, 5, 6)
    carried: Carried = ()
    first = layers[0].v_proj(x)
    for layer in layers:
        query, key = (
            projection(x).unflatten(-1, (2, 3)).transpose(1, 2) for projection in (layer.q_proj, layer.k_proj)
        )
        value = ((layer.v_proj(x) + first) / 2).unflatten(-1, (2, 3)).transpose(1, 2)
        heads = (query @ key.transpose(-1, -2) / 3**0.5).softmax(-1) @ value  # B x H x T x D
        expected = layer.out_proj(heads.transpose(1, 2).flatten(2))
        for weights in (True, False):  # by hand in the layer, and by torch's own kernel
            attended = layer(x, x, None, carried, weights=weights)
            torch.testing.assert_close(attended.output, expected)
        x, carried = attended.output, attended.carried


def test_gains_by_depth() -> None:
    layers = build(residual_scaling="shrinking", encoder_layers=9).encoder.layers
    for depth, layer in enumerate(layers, 1):
        bound = (6 / sum(layer.fc1.weight.shape)) ** 0.5 * depth**-0.5  # xavier's uniform distribution
        assert 0.9 * bound < layer.fc1.weight.abs().max() <= bound
