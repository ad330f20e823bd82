"""Products by oneDNN against torch's own, with their gradients."""

import subprocess
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from realformer_nmt.kernels import matmul
from realformer_nmt.kernels.matmul import LARGE, Product

CPU = torch.device("cpu")


def test_it_knows_an_intel() -> None:
    cpu_info = subprocess.run(["/usr/bin/lscpu"], capture_output=True, text=True, check=True).stdout
    assert matmul.onednn_leads(CPU) == ("GenuineIntel" not in cpu_info)


X, D_Y = torch.randn(3, 4, 12).transpose(0, 1), torch.randn(4, 3, 1)
IN_MEMORY = {  # inputs, gradients of outputs
    **{f"{shape}": (torch.randn(*shape, 6), torch.randn(*shape, 7)) for shape in ((), (5,), (2, 3), (2, 1, 4))},
    "strided": (X[..., ::2], D_Y.expand(4, 3, 7)),
    "repeated": (torch.randn(1, 6).expand(4, 6), torch.randn(7, 4).t()),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("x", "d_y"), IN_MEMORY.values(), ids=IN_MEMORY)
def test_values_and_gradients_are_torchs(x: torch.Tensor, d_y: torch.Tensor, bias: bool) -> None:
    layer = nn.Linear(6, 7, bias=bias)
    inputs = (x.detach().requires_grad_(), *layer.parameters())
    actual, expected = Product.apply(inputs[0], layer.weight, layer.bias), layer(inputs[0])
    torch.testing.assert_close(actual, expected)
    for one, other in zip(*(torch.autograd.grad(y, inputs, d_y) for y in (actual, expected)), strict=True):
        torch.testing.assert_close(one, other)


def test_of_nothing_the_gradient_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "_mkl_leads", lambda: False)
    weight = torch.randn(LARGE // 64, 64, requires_grad=True)
    matmul.product(torch.empty(0, 64), weight).sum().backward()
    assert weight.grad is not None
    assert not weight.grad.any()


def test_a_gradient_that_is_not_needed_is_not_computed() -> None:
    ctx = SimpleNamespace(saved_tensors=(torch.randn(3, 6), torch.randn(7, 6)), needs_input_grad=(False, True, False))
    gradients = Product.backward(ctx, torch.randn(3, 7))
    assert [gradient is not None for gradient in gradients] == [False, True, False]


@pytest.mark.parametrize("weights", [LARGE - 64, LARGE])
@pytest.mark.parametrize("intel", [True, False])
def test_small_products_and_those_on_an_intel_are_torchs_own(
    weights: int, intel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul, "_mkl_leads", lambda: intel)
    y = matmul.product(torch.randn(2, 64), torch.randn(weights // 64, 64, requires_grad=True))
    assert (type(y.grad_fn).__name__ == "ProductBackward") == (weights >= LARGE and not intel)


def test_under_autocast_they_are_torchs_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "_mkl_leads", lambda: False)
    with torch.autocast("cpu", torch.bfloat16):
        assert matmul.product(torch.randn(2, 64), torch.randn(LARGE // 64, 64)).dtype == torch.bfloat16
