"""Decoding in bf16, where stock fairseq casts for --fp16 alone."""

import functools
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from tiny_models.stock import stock
from tiny_models.tiny import build
from torch import nn


@pytest.mark.parametrize("make", [build, functools.partial(stock, False)], ids=["ours", "stock"])
def test_the_model_is_cast_when_asked(make: Callable[[], nn.Module]) -> None:
    for bf16, dtype in [(False, torch.float32), (True, torch.bfloat16)]:
        model = make()
        model.prepare_for_inference_(SimpleNamespace(common=SimpleNamespace(bf16=bf16), generation=SimpleNamespace()))
        assert {parameter.dtype for parameter in model.parameters()} == {dtype}
