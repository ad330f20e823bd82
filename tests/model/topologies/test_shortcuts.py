"""Shortcuts whose weights change in training, against their formulas."""

import pytest
import torch
from tiny_models.tiny import build

from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.shortcuts import Growing
from realformer_nmt.model.topologies.topology import Stack

ENCODER, DECODER = Stack("encoder", 60, 12), Stack("decoder", 60, 12)


def test_pro_res_opens_one_layer_after_the_other() -> None:
    """At update t, from 1, the branch of layer l has the weight min(t / (1000 l), 1)."""
    x, branch = torch.randn(2, 4, 8)
    for stack, number, layer in [(ENCODER, 0, 1), (ENCODER, 5, 3), (DECODER, 5, 2), (Stack("decoder", 0, 6), 5, 3)]:
        shortcut = SCALINGS["pro_res"](stack).shortcut(8, number)
        torch.testing.assert_close(shortcut(x, branch), x + branch / (1000 * layer))
        for done in (499, 999, 5000):
            shortcut.set_num_updates(done)
            torch.testing.assert_close(shortcut(x, branch), x + branch * min((done + 1) / (1000 * layer), 1))


def test_fairseq_tells_pro_res_the_number_of_updates_and_saves_it() -> None:
    model, other = build(residual_scaling="pro_res"), build(residual_scaling="pro_res")
    model.set_num_updates(999)
    other.load_state_dict(model.state_dict())
    other.set_num_updates(0)  # as finetuning begins: what has grown stays
    for one in (model, other):
        shares = [float(module.share) for module in one.modules() if isinstance(module, Growing)]
        assert shares == pytest.approx([1, 1, 0.5, 0.5, 1, 1, 1, 0.5, 0.5, 0.5])


def test_layer_scale_weighs_each_channel_of_the_branch() -> None:
    x, branch = torch.randn(2, 4, 8), torch.randn(2, 4, 8)
    for layers, start in [(2, 0.1), (18, 0.1), (24, 1e-5), (60, 1e-6)]:
        shortcut = SCALINGS["layer_scale"](Stack("decoder", 6, layers)).shortcut(8, 3)
        torch.testing.assert_close(shortcut(x, branch), x + start * branch)
    with torch.no_grad():
        shortcut.a.copy_(torch.arange(8))
    torch.testing.assert_close(shortcut(x, branch), x + torch.arange(8) * branch)
