"""Topologies with a second path, against their formulas over three layers."""

import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build


def test_rk2_is_of_the_encoder_alone() -> None:
    rk2, pre = build(residual_topology="rk2"), build(residual_topology="pre")
    assert [name for name, _ in rk2.decoder.named_parameters()] == [name for name, _ in pre.decoder.named_parameters()]
    rk2.decoder.load_state_dict(pre.decoder.state_dict())
    encoder_out = pre.encoder(SOURCE)
    assert torch.equal(rk2.decoder(PREVIOUS, encoder_out)[0], pre.decoder(PREVIOUS, encoder_out)[0])
