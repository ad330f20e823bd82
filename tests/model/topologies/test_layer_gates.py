"""Topologies with a trained number per layer, against their formulas over three layers."""

import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build


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
