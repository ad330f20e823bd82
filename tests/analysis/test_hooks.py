"""The hooks show what the formulas say, written out for the first two layers."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor

from realformer_nmt.analysis import hooks
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.topologies.topology import Stream

SENTENCE = SOURCE[1:2]  # without padding


@contextmanager
def seen(model: TranslationModel) -> Iterator[dict[tuple[str, int], Tensor]]:
    probabilities: dict[tuple[str, int], Tensor] = {}
    with torch.no_grad(), hooks.attention(model, lambda chain, layer, p: probabilities.update({(chain, layer): p})):
        yield probabilities


def scores(attention: torch.nn.Module, x: Tensor) -> Tensor:
    query, key = (
        (x @ part.weight.t() + part.bias).view(len(x), x.size(1), 2, 4).transpose(1, 2)
        for part in (attention.q_proj, attention.k_proj)
    )
    return query @ key.transpose(-1, -2) / 4**0.5


def test_every_attention_is_seen_once_and_the_model_computes_the_same() -> None:
    model = build().eval()
    with torch.no_grad():
        before = model(SOURCE, None, PREVIOUS)[0]
    with seen(model) as probabilities:
        during = model(SOURCE, None, PREVIOUS)[0]
    assert torch.allclose(during, before, atol=1e-6)
    assert probabilities.keys() == {(chain, layer) for chain in hooks.CHAINS for layer in (1, 2)}
    assert probabilities["encoder-decoder", 1].shape == (3, 2, PREVIOUS.size(1), SOURCE.size(1))
    probabilities.clear()
    model(SOURCE, None, PREVIOUS)
    assert not probabilities  # the hooks have gone


class Calls:
    """Calls of the three kinds of hooks while a model reads a batch, in order."""

    def __init__(self, model: TranslationModel, source: Tensor, previous: Tensor) -> None:
        self.streams: list[tuple[str, int, Stream]] = []
        self.attention: list[tuple[str, int, Tensor]] = []
        self.terms: list[tuple[str, hooks.Shortcut, Tensor, Tensor]] = []
        with (
            torch.no_grad(),
            hooks.streams(model, lambda *call: self.streams.append(call)),
            hooks.attention(model, lambda *call: self.attention.append(call)),
            hooks.terms(model, lambda *call: self.terms.append(call)),
        ):
            model(source, None, previous)


def test_rk2_shows_the_stream_after_both_calls_of_a_layer_and_the_attention_of_the_first() -> None:
    model = build(residual_topology="rk2", encoder_layers=3).eval()
    calls, encoder = Calls(model, SENTENCE, PREVIOUS[1:2]), model.encoder

    def whole_layer(layer: torch.nn.Module, x: Tensor) -> Tensor:
        normed = layer.self_attn_layer_norm(x)
        x = x + layer.self_attn(normed, normed, None).output
        return x + layer.fc2(layer.fc1(layer.final_layer_norm(x)).relu())

    with torch.no_grad():
        x = encoder.embed(SENTENCE, encoder.embed_positions(SENTENCE))
        streams, attention, terms = [x], [], []
        for layer in encoder.layers:
            normed = layer.self_attn_layer_norm(x)
            attention.append(scores(layer.self_attn, normed).softmax(-1))
            terms.append((x, layer.self_attn(normed, normed, None).output))
            first = whole_layer(layer, x)
            second = whole_layer(layer, x + first)
            g = torch.sigmoid(encoder.topology.gate(torch.cat([first, second], -1)))
            x = x + g * first + (1 - g) * second
            streams.append(x)
    shown = [stream for side, _, (stream,) in calls.streams if side == "encoder"]
    torch.testing.assert_close(shown, streams)
    torch.testing.assert_close([p for chain, _, p in calls.attention if chain == "encoder"], attention)
    of_attention = [layer.self_attn_shortcut for layer in encoder.layers]
    added = [tuple(pair) for _, shortcut, *pair in calls.terms if shortcut in of_attention]
    torch.testing.assert_close(added, terms)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_every_topology_shows_each_layer_once(topology: str) -> None:
    calls = Calls(build(residual_topology=topology, encoder_layers=3).eval(), SOURCE, PREVIOUS)
    assert [call[:2] for call in calls.streams] == [
        *(("encoder", layer) for layer in range(4)),
        *(("decoder", layer) for layer in range(3)),
    ]
    assert sorted(call[:2] for call in calls.attention) == [
        *((chain, layer) for chain in ("decoder", "encoder") for layer in range(1, 3 + (chain == "encoder"))),
        *(("encoder-decoder", layer) for layer in (1, 2)),
    ]
    shortcuts = [call[1] for call in calls.terms]
    assert len(set(shortcuts)) == len(shortcuts)
