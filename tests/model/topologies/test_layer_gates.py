"""Topologies with a trained number per layer, against their formulas over three layers."""

import math

import torch
from formulas.topologies import BRANCHES, SUBLAYERS, WIDTH, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build

from realformer_nmt.model.topologies.layer_gates import GPAS, ReZero
from realformer_nmt.model.topologies.shortcuts import Plain
from realformer_nmt.model.topologies.topology import Place, Stack


def test_rezero_weighs_all_branches_of_a_layer_by_one_number() -> None:
    done, x = Pass(ReZero), X
    for number, f in enumerate(BRANCHES):
        x = W * x + done.topology.weights[number // SUBLAYERS] * f(x)
    torch.testing.assert_close(done.output, x)


def test_rezero_starts_as_the_embedding() -> None:
    model = build(residual_topology="rezero")
    assert not [name for name, _ in model.named_parameters() if "norm" in name]
    assert [tuple(side.topology.weights.shape) for side in (model.encoder, model.decoder)] == [(2,), (2,)]
    features, _ = model.decoder(PREVIOUS, model.encoder(SOURCE), features_only=True)
    words = model.decoder
    embedded = words.embed_scale * words.embed_tokens(PREVIOUS) + words.embed_positions(PREVIOUS)
    torch.testing.assert_close(features, embedded)


def test_gpas_makes_the_stream_smaller_after_each_sub_layer() -> None:
    done, x = Pass(GPAS), X
    for number, (f, norm) in enumerate(zip(BRANCHES, done.norms, strict=True)):
        g = done.topology.gates[number // SUBLAYERS]
        x = W * x + f(normalise(x, norm))
        x = x - g / (1 + torch.exp(-g)) * x
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_gpas_leaves_the_gradient_of_the_stream_as_it_is() -> None:
    topology = GPAS(Stack("encoder", 1, 1), WIDTH)
    x, branch = X.clone().requires_grad_(), torch.zeros_like(X)
    with torch.no_grad():
        topology.gates.fill_(2.0)
    (written,) = topology.write((x,), branch, Plain(), torch.nn.Identity(), Place(1, 0, last=False))
    gate = 2 / (1 + math.exp(-2))
    torch.testing.assert_close(written, (1 - gate) * x)
    by_x, by_gate = torch.autograd.grad(written.sum(), (x, topology.gates))
    assert torch.equal(by_x, torch.ones_like(X))
    slope = gate / 2 * (1 + 2 * (1 - gate / 2))  # of silu at 2
    torch.testing.assert_close(by_gate, -slope * X.sum()[None])


def test_gpas_starts_as_pre_ln() -> None:
    gpas, pre = build(residual_topology="gpas"), build(residual_topology="pre")
    gpas.load_state_dict(pre.state_dict(), strict=False)
    torch.testing.assert_close(gpas(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0])
