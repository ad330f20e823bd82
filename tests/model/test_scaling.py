"""Scalings against the constants of the papers."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from fairseq.optim.adam import Adam
from torch import nn

from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.shortcuts import Plain, Profiled
from realformer_nmt.model.topologies.topology import Stack
from realformer_nmt.training.radam import RAdam

ENCODER, DECODER = Stack("encoder", 60, 12), Stack("decoder", 60, 12)


@pytest.mark.parametrize(
    ("stack", "a", "b"),
    [  # DeepNet, figure 2, worked out for 60L-12L and for 6L-6L
        (ENCODER, 2.633128, 0.267629),
        (DECODER, 2.449490, 0.288675),
        (Stack("encoder", 6, 6), 1.417938, 0.496989),
        (Stack("decoder", 6, 6), 2.059767, 0.343294),
        (Stack("encoder", 12, 0), 24**0.25, 96**-0.25),  # one side alone: (2N)^(1/4), (8N)^(-1/4)
        (Stack("decoder", 0, 6), 12**0.25, 48**-0.25),
    ],
)
def test_deepnorm(stack: Stack, a: float, b: float) -> None:
    scaling = SCALINGS["deepnorm"](stack)
    assert scaling.gains(1) == pytest.approx((1.0, b, b), rel=1e-5)
    x, branch = torch.randn(2, 4, 8)
    torch.testing.assert_close(scaling.shortcut(8, 5)(x, branch), a * x + branch, rtol=1e-5, atol=1e-5)


def test_admin_without_a_profile() -> None:
    alone = [(Stack("encoder", 60, 0), 120), (Stack("decoder", 0, 12), 24)]
    for stack, sublayers in [(ENCODER, 120), (DECODER, 36), *alone]:
        shortcut = SCALINGS["admin_fixed"](stack).shortcut(8, 0)
        w = math.sqrt((sublayers + 1) / math.log(sublayers + 1) - 1)
        torch.testing.assert_close(shortcut.weight(), torch.full((8,), w))


def test_admin_trains_a_weight_a_channel_in_all_but_the_first_sublayer() -> None:
    scaling = SCALINGS["admin"](ENCODER)
    assert isinstance(scaling.shortcut(8, 0), Plain)
    shortcut = scaling.shortcut(8, 1)
    assert isinstance(shortcut, Profiled)
    with torch.no_grad():
        shortcut.w0.fill_(1.5)
        shortcut.delta.copy_(torch.arange(8) / 10)
    x, branch = torch.randn(2, 4, 8)
    torch.testing.assert_close(shortcut(x, branch), (1.5 + torch.arange(8) / 10) * x + branch)
    assert [name for name, _ in shortcut.named_parameters()] == ["delta"]


@pytest.mark.parametrize(
    ("scaling", "optimiser"),
    [
        ("admin", partial(torch.optim.Adam, lr=0.01)),
        ("admin_decayed", partial(RAdam, lr=0.01, betas=(0.9, 0.98), weight_decay=0.5)),
        ("admin_decayed", partial(Adam, lr=0.01, weight_decay=0.5)),
        ("admin_decayed", partial(torch.optim.SGD, lr=0.01, weight_decay=0.5)),
    ],
    ids=["no decay", "radam", "fairseq's adam", "sgd"],
)
def test_a_buffer_and_a_delta_train_as_one_weight_would(
    scaling: str, optimiser: Callable[..., torch.optim.Optimizer]
) -> None:
    """w = w0 + delta gets the updates of a parameter w, which is why w0 may be a buffer."""
    shortcut = SCALINGS[scaling](ENCODER).shortcut(8, 1)
    assert isinstance(shortcut, Profiled)
    shortcut.w0.fill_(1.319)
    w = nn.Parameter(torch.full((8,), 1.319))
    optimisers = [optimiser([*shortcut.parameters()]), optimiser([w])]
    for step in range(40):
        x, branch = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(step))
        for optimiser_, output in zip(optimisers, [shortcut(x, branch), w * x + branch], strict=True):
            optimiser_.zero_grad()
            (output**2).mean().backward()
            optimiser_.step()
    torch.testing.assert_close(shortcut.weight(), w, rtol=1e-5, atol=1e-6)
    assert shortcut.delta.mean() < w.mean() - 1  # what there is of w is still w0's


def test_keel_multiplies_the_stream_by_the_number_of_layers() -> None:
    x, branch = torch.randn(2, 4, 8)
    for stack, layers in [(ENCODER, 60), (DECODER, 12)]:
        shortcut = SCALINGS["keel"](stack).shortcut(8, 4)
        torch.testing.assert_close(shortcut(x, branch), layers * x + branch)
        assert shortcut.weight().mean() == layers
        assert SCALINGS["keel"](stack).weight == layers


MAGNETO = math.sqrt(math.log(36) * math.log(120) / 3)  # of 60 layers that are read by 12
S = 2**-0.5  # of stock fairseq: the gain of q, k and v


@pytest.mark.parametrize(
    ("name", "stack", "depth", "gains"),
    [
        ("b2t", ENCODER, 7, (S * 60**-0.5, S * 60**-0.5, 60**-0.5)),
        ("b2t", DECODER, 7, (S * 12**-0.5, S * 12**-0.5, 12**-0.5)),
        ("ds_init", ENCODER, 1, (S, S, 1)),
        ("ds_init", DECODER, 16, (S / 2, S / 2, 1 / 2)),
        ("t_fixup", ENCODER, 3, (S, 0.67 * 60**-0.25, 0.67 * 60**-0.25)),
        ("t_fixup", DECODER, 3, (S, 108**-0.25, 108**-0.25)),
        ("sub_ln", ENCODER, 3, (S, S * MAGNETO, MAGNETO)),
        ("sub_ln", DECODER, 3, (S, S * math.sqrt(math.log(36)), math.sqrt(math.log(36)))),
        ("sub_ln", Stack("encoder", 12, 0), 3, (S, S * math.sqrt(math.log(24)), math.sqrt(math.log(24)))),
        ("pro_res", ENCODER, 3, (S, S, 1)),
    ],
)
def test_gains_of_initial_weights(name: str, stack: Stack, depth: int, gains: tuple[float, ...]) -> None:
    scaling = SCALINGS[name](stack)
    assert scaling.gains(depth) == pytest.approx(gains)
    x, branch = torch.randn(2, 4, 8)
    if name != "pro_res":
        torch.testing.assert_close(scaling.shortcut(8, 5)(x, branch), x + branch)


@pytest.mark.parametrize(("name", "factor"), [("b2t", 12**-0.5), ("ds_init", 1 / 2)])
def test_attention_to_a_memory_of_another_width_is_scaled_too(name: str, factor: float) -> None:
    assert SCALINGS[name](DECODER).memory_gains(16, equal_widths=False) == pytest.approx((factor,) * 3)
