"""Dropout in C: the very bits that torch's operations give."""

import pytest
import torch
from torch import Tensor

from realformer_nmt.kernels.dropout import Dropout, ReluDropout
from realformer_nmt.kernels.native.library import HIDDEN, library, takes

pytestmark = pytest.mark.skipif(library() is None, reason="no kernels were built, or the processor has no avx512_vnni")


def both(module: Dropout, x: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone().requires_grad_()
    torch.manual_seed(3)
    out = module.train()(x)
    out.backward(gradient)
    assert x.grad is not None
    return out.detach(), x.grad


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 40_000, 1_000_003])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("module", [Dropout(0.1), Dropout(0.5), ReluDropout("relu", 0.3)], ids=["0.1", "0.5", "relu"])
def test_values_and_gradients_are_torchs(
    module: Dropout, dtype: torch.dtype, count: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, gradient = torch.randn(2, count, generator=torch.Generator().manual_seed(count)).to(dtype)
    if not takes(x):
        pytest.skip("the processor has no avx512_bf16")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        native = both(module, x, gradient)
    finally:
        torch.set_num_threads(before)
    monkeypatch.setenv(HIDDEN, "0")
    for actual, expected in zip(native, both(module, x, gradient), strict=True):
        kind = torch.int32 if dtype is torch.float32 else torch.int16
        assert torch.equal(actual.view(kind), expected.view(kind))


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("module", [Dropout(0.5), ReluDropout("relu", 0.5)], ids=["plain", "relu"])
def test_what_is_no_number_is_seen(module: Dropout, bad: float, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(64).index_fill(0, torch.tensor([3, 40]), bad)
    native = both(module, x, x)
    monkeypatch.setenv(HIDDEN, "0")
    torch.testing.assert_close(native, both(module, x, x), rtol=0, atol=0, equal_nan=True)


def test_its_shape_and_order_stay() -> None:
    x = torch.randn(6, 10, 3).transpose(0, 2)  # its numbers do not stand side by side
    out, gradient = both(Dropout(0.25), x, x)
    assert torch.equal((out != 0), (gradient != 0))
    torch.testing.assert_close(out, x * (out != 0) / 0.75)
    torch.testing.assert_close(gradient, out)
    assert both(Dropout(0.5), torch.ones(0, 4), torch.ones(0, 4))[0].shape == (0, 4)
