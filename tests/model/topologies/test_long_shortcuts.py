"""Topologies with a second path, against their formulas over three layers."""

import torch
from formulas.topologies import BRANCHES, WIDTH, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import nn

from realformer_nmt.model.topologies.long_shortcuts import SpanNorm
from realformer_nmt.model.topologies.shortcuts import Plain
from realformer_nmt.model.topologies.topology import Place, Stack


def test_rk2_is_of_the_encoder_alone() -> None:
    rk2, pre = build(residual_topology="rk2"), build(residual_topology="pre")
    assert [name for name, _ in rk2.decoder.named_parameters()] == [name for name, _ in pre.decoder.named_parameters()]
    rk2.decoder.load_state_dict(pre.decoder.state_dict())
    encoder_out = pre.encoder(SOURCE)
    assert torch.equal(rk2.decoder(PREVIOUS, encoder_out)[0], pre.decoder(PREVIOUS, encoder_out)[0])


def test_span_norm_adds_the_input_of_the_layer_at_its_end() -> None:
    topology = SpanNorm(Stack("decoder", 2, 2), WIDTH)
    places = [Place(number // 3 + 1, number, last=number % 3 == 2) for number in range(6)]
    norms = [topology.norm(place) for place in places]
    for parameter in (*topology.parameters(), *(each for norm in norms for each in norm.parameters())):
        nn.init.normal_(parameter)
    stream = topology.enter(X)
    for f, norm, place in zip(BRANCHES, norms, places, strict=True):
        stream = topology.write(stream, f(topology.read(stream, norm, place)), Plain(), norm, place)
    x = X
    for layer, (f, g, h) in enumerate((BRANCHES[:3], BRANCHES[3:])):
        first, second, third = norms[3 * layer : 3 * layer + 3]
        y = normalise(x + f(x if layer else normalise(x, topology.first_norm)), first)
        y = normalise(y + g(y), second)
        x = normalise(x + h(y), third)
    torch.testing.assert_close(topology.leave(stream, topology.final_norm()), x)
