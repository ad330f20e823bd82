"""Decoding in bf16, where stock fairseq casts for --fp16 alone."""

import functools
import logging
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from faults.compat_probes import ModelOfAWeight, wrapped
from tiny_models.stock import stock
from tiny_models.tiny import build
from torch import nn


@pytest.mark.parametrize("make", [build, functools.partial(stock, False)], ids=["ours", "stock"])
def test_the_model_is_cast_when_asked(make: Callable[[], nn.Module]) -> None:
    for bf16, dtype in [(False, torch.float32), (True, torch.bfloat16)]:
        model = make()
        model.prepare_for_inference_(SimpleNamespace(common=SimpleNamespace(bf16=bf16), generation=SimpleNamespace()))
        assert {parameter.dtype for parameter in model.parameters()} == {dtype}


@pytest.mark.parametrize("changed", [False, True])
def test_a_training_goes_on_from_changed_weights(changed: bool, caplog: pytest.LogCaptureFixture) -> None:
    """An averaged checkpoint has other weights than the fp32 ones of its optimizer; stock trains from the former."""
    before, after = (ModelOfAWeight().bfloat16() for _ in range(2))
    optimizer = wrapped(before)
    before.weight.grad = torch.ones_like(before.weight)
    optimizer._needs_sync = True
    optimizer.step()
    after.load_state_dict(before.state_dict())
    expected = optimizer.fp32_params[0].detach().clone()
    assert not torch.equal(expected, before.weight.float())
    if changed:
        after.weight.data[0, 1] = expected[0, 1] = 1.5
    resumed = wrapped(after)
    with caplog.at_level(logging.WARNING):
        resumed.load_state_dict(optimizer.state_dict())
    assert torch.equal(resumed.fp32_params[0], expected)
    assert caplog.text.count("1 weights of the checkpoint's model were changed") == changed == len(caplog.records)
