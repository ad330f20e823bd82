"""Dropout against what it promises: shares, expectation, gradient."""

import pytest
import torch

from realformer_nmt.kernels.dropout import ActivatedDropout, Dropout, ReluDropout

NUMBER = 1_000_003  # four random numbers come at a time


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("kind", [Dropout, ReluDropout])
def test_drops_a_share_of_p_and_keeps_the_mean(kind: type[Dropout], p: float) -> None:
    torch.manual_seed(2)
    module = (Dropout(p) if kind is Dropout else ReluDropout("relu", p)).train()
    out = module(torch.full((NUMBER,), 2.0))
    deviation = (p * (1 - p) / NUMBER) ** 0.5
    assert (out == 0).float().mean().item() == pytest.approx(p, abs=5 * deviation)
    nonzero = out[out != 0]
    torch.testing.assert_close(nonzero, torch.full_like(nonzero, 2 / (1 - p)), rtol=1e-3, atol=0)
    assert out.double().mean().item() == pytest.approx(2, abs=5 * 2 * deviation / (1 - p))


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(2)
    signs = (Dropout(0.5).train()(torch.ones(NUMBER)) > 0).double() - 0.5
    for distance in (1, 2, 3, 4, 5):
        correlation = (signs[distance:] * signs[:-distance]).mean() * 4
        assert abs(correlation) < 5 / NUMBER**0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_gradient_passes_where_the_value_did(activation: str, dtype: torch.dtype) -> None:
    x = torch.randn(7, 33, dtype=dtype, requires_grad=True)
    kind = ReluDropout if activation == "relu" else ActivatedDropout
    module = kind(activation, 0.25).train()
    out = module(x)
    out.sum().backward()
    plain = x.detach().clone().requires_grad_()
    activated = module.activation(plain)
    activated.sum().backward()
    mask = (out != 0).to(dtype)
    torch.testing.assert_close(out, activated * mask / 0.75, rtol=2e-2, atol=1e-6)
    torch.testing.assert_close(x.grad, plain.grad * mask / 0.75, rtol=2e-2, atol=1e-6)


def test_nothing_is_dropped_outside_training_unless_asked_for() -> None:
    x = torch.randn(50)
    module = Dropout(0.5).eval()
    assert module(x) is x
    module.make_generation_fast_("name", retain_dropout=True)
    assert (module(x) == 0).any()
