"""Shortcuts whose weights change in training, against their formulas."""

import pytest
import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build

from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.shortcuts import Growing, LowRank
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_orthogonal_adds_what_the_stream_has_not(dtype: torch.dtype) -> None:
    """Squares of fp16's 600 are beyond its range; |x + f|^2 is then |x|^2 + |f|^2, so that the stream never shrinks."""
    x, branch = (600 * torch.randn(2, 4, 8)).to(dtype)
    output = SCALINGS["orthogonal"](ENCODER).shortcut(8, 3)(x, branch).double()
    x, branch = x.double(), branch.double()
    added = branch - x * (x * branch).sum(-1, keepdim=True) / x.square().sum(-1, keepdim=True)
    torch.testing.assert_close(output, x + added, rtol=1e-3, atol=2.0 if dtype is torch.float16 else 1e-3)
    torch.testing.assert_close(output.square().sum(-1), x.square().sum(-1) + added.square().sum(-1), rtol=5e-3, atol=0)


def test_laurel_starts_as_a_plain_shortcut() -> None:
    pre, laurel = build(residual_topology="pre"), build(residual_topology="pre", residual_scaling="laurel")
    laurel.load_state_dict(pre.state_dict(), strict=False)
    assert torch.equal(laurel(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0])


def test_laurel_adds_a_product_of_low_rank() -> None:
    shortcut = LowRank(10, 4)
    start = [[1 / 40**0.5 if channel % 4 == row else 0.0 for channel in range(10)] for row in range(4)]
    torch.testing.assert_close(shortcut.down.detach(), torch.tensor(start))
    torch.nn.init.normal_(shortcut.up)
    x, branch = torch.randn(2, 3, 10)
    low_rank = torch.einsum("cr,rd,td->tc", shortcut.up, shortcut.down, x)
    torch.testing.assert_close(shortcut(x, branch), x + branch + low_rank)
    assert SCALINGS["laurel"](ENCODER).shortcut(512, 3).down.shape == (64, 512)
