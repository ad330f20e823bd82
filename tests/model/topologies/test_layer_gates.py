"""Topologies with a trained number per layer, against their formulas over three layers."""

import torch
from tiny import PREVIOUS, SOURCE, build
from topologies import BRANCHES, SUBLAYERS, Pass, W, X

from realformer_nmt.model.topologies.layer_gates import ReZero


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
