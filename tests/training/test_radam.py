"""RAdam against its formula in float64, and inside fairseq's wrappers."""

import copy
import math

import numpy as np
import pytest
import torch
import torch.multiprocessing
from fairseq import optim
from formulas.gradients import give_gradients, parameters
from programs.fairseq_config import configured

from realformer_nmt.training.radam import FairseqRAdam, RAdam


def by_hand(
    value: np.ndarray,
    gradients: list[np.ndarray],
    rates: list[float],
    betas: tuple[float, float],
    eps: float,
    decay: float,
    momentum: bool,
) -> np.ndarray:
    """Algorithm 2 of arXiv 1908.03265, epsilon and weight decay where the authors' code has them."""
    (beta1, beta2), mean, square = betas, 0.0, 0.0
    rho_inf = 2 / (1 - beta2) - 1
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        value = value - rate * decay * value
        square = beta2 * square + (1 - beta2) * gradient**2
        mean = beta1 * mean + (1 - beta1) * gradient
        corrected = mean / (1 - beta1**t)
        rho = rho_inf - 2 * t * beta2**t / (1 - beta2**t)
        if rho > 5:
            adaptive = math.sqrt(1 - beta2**t) / (np.sqrt(square) + eps)
            r = math.sqrt(((rho - 4) * (rho - 2) * rho_inf) / ((rho_inf - 4) * (rho_inf - 2) * rho))
            value = value - rate * r * corrected * adaptive
        elif momentum:
            value = value - rate * corrected
    return value


@pytest.mark.parametrize("momentum", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("betas", [(0.9, 0.98), (0.0, 0.7)])
def test_equals_the_formula(betas: tuple[float, float], momentum: bool, dtype: torch.dtype, tolerance: float) -> None:
    flags = ["--adam-betas", str(betas), "--adam-eps", "1e-4", "--weight-decay", "0.1"]
    flags += ["--radam-untractable-momentum"] if momentum else []
    weights = parameters(dtype)
    starts = [parameter.detach().double().numpy().copy() for parameter in weights]
    optimizer = optim.build_optimizer(configured("--optimizer", "radam", "--lr", 0.5, *flags).optimizer, weights)
    assert isinstance(optimizer, FairseqRAdam)
    assert optimizer.get_lr() == 0.5
    rates, gradients = [0.01 / (step + 1) for step in range(40)], []
    for step, rate in enumerate(rates):
        give_gradients(weights, step)
        gradients.append([parameter.grad.double().numpy().copy() for parameter in weights])
        optimizer.set_lr(rate)
        optimizer.multiply_grads(0.5)
        optimizer.step()
    for parameter, start, *history in zip(weights, starts, *gradients, strict=True):
        halves = [0.5 * gradient for gradient in history]
        expected = by_hand(start, halves, rates, betas, 1e-4, 0.1, momentum)
        np.testing.assert_allclose(parameter.detach().numpy(), expected, rtol=tolerance, atol=tolerance)


def test_strides_of_a_gradient_do_not_matter() -> None:
    weights, strided = parameters(), parameters()
    optimizers = [RAdam(weights), RAdam(strided)]
    for step in range(8):
        give_gradients(weights, step)
        give_gradients(strided, step)
        for parameter in (other for other in strided if other.dim() == 2):
            parameter.grad = parameter.grad.flatten().view(parameter.shape)  # rows one after the other
        strided[2].grad = strided[2].grad.t().contiguous().t()  # columns, where the parameter has rows
        for optimizer in optimizers:
            optimizer.step()
    assert all(torch.equal(mine, other) for mine, other in zip(weights, strided, strict=True))


def test_a_parameter_without_a_gradient_keeps_its_own_count() -> None:
    """One whose gradients come late moves as if its updates had been the only ones."""
    weights, alone = parameters(), parameters()[2:3]
    optimizer, reference = RAdam(weights, lr=0.01), RAdam(alone, lr=0.01)
    for step in range(20):
        give_gradients(weights, step)
        late = weights[2].grad
        if step % 2:
            alone[0].grad = late.clone()
            reference.step()
        else:
            weights[2].grad = None
        optimizer.step()
    assert torch.equal(weights[2], alone[0])
    assert not torch.equal(weights[2], parameters()[2])


def test_mixed_types_in_one_group() -> None:
    mixed = parameters()[:2] + parameters(torch.bfloat16)[2:4] + parameters(torch.float64)[4:]
    each = copy.deepcopy(mixed)
    optimizer, alone = RAdam(mixed), [RAdam([parameter]) for parameter in each]
    for step in range(10):
        give_gradients(mixed, step)
        give_gradients(each, step)
        optimizer.step()
        for one in alone:
            one.step()
    assert all(torch.equal(mine, other) for mine, other in zip(mixed, each, strict=True))
    assert not torch.equal(mixed[0], parameters()[0])


@pytest.mark.parametrize(
    ("betas", "message"),
    [
        ("(0.9, 0.5)", r"betas \(0.9, 0.5\).*between 2/3 and 1"),
        ("(1.0, 0.98)", "--adam-betas 1.0: allowed is 0 or more and less than 1"),
        ("0.9", r"--adam-betas was given '0.9': it takes two numbers"),
        ("(0.9, 0.98, 0.99)", "it takes two numbers"),
        ("__import__('os')", "is no plain value"),
    ],
)
def test_impossible_betas_are_refused(betas: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        optim.build_optimizer(
            configured("--optimizer", "radam", "--lr", 0.01, "--adam-betas", betas).optimizer, parameters()
        )
