"""The optimiser has the same bits as fairseq's own methods, in as many calls for many weights as for few."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fairseq import utils
from fairseq.optim import FP16Optimizer
from gpu_steps import StockOptimizer
from paper_gpu import launches
from programs.fairseq_config import configured
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode


class Calls(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += launches(operation)
        return operation(*args, **(kwargs or {}))


def weights(number: int) -> list[nn.Parameter]:
    torch.manual_seed(1)
    return [nn.Parameter(torch.randn(3, 2 + index % 3).bfloat16()) for index in range(number)]


@pytest.fixture(params=[False, True], ids=["apart", "flat"], autouse=True)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Flags with which fairseq keeps fp32 weights apart or, as with --fp16, as one tensor, on a CPU called a GPU."""
    monkeypatch.setattr(torch.cuda, "current_device", lambda: None)
    return () if request.param else ("--bf16",)


def optimiser(kind: type[FP16Optimizer], trained: list[nn.Parameter], form: tuple[str, ...]) -> FP16Optimizer:
    updates = kind.build_optimizer(configured("--optimizer", "adam", "--lr", "1e-1", "--cpu", *form), trained)
    assert updates.has_flat_params is not bool(form)
    return updates


def step(updates: FP16Optimizer, trained: list[nn.Parameter], unused: int | None = None, clip: float = 0.0) -> Tensor:
    used = [weight for index, weight in enumerate(trained) if index != unused]
    updates.backward(sum((weight.float() ** 2).sum() for weight in used))
    updates.multiply_grads(0.3)
    norm = updates.clip_grad_norm(clip)
    updates.step()
    updates.zero_grad()
    return norm


@pytest.mark.parametrize("clip", [0.0, 0.5])
@pytest.mark.parametrize("unused", [None, 2])
def test_training_has_the_bits_of_fairseqs(unused: int | None, clip: float, form: tuple[str, ...]) -> None:
    states = []
    for kind in (FP16Optimizer, StockOptimizer):
        trained = weights(7)
        updates = optimiser(kind, trained, form)
        norms = [step(updates, trained, unused if number == 1 else None, clip) for number in range(4)]
        copies = list(updates.fp32_params.values()) if updates.has_flat_params else updates.fp32_params
        states.append([*norms, *trained, *copies, *(copy.grad for copy in copies)])
    for actual, expected in zip(*states, strict=True):
        assert torch.equal(actual, expected)


@pytest.mark.parametrize(("kind", "same"), [(FP16Optimizer, True), (StockOptimizer, False)])
def test_many_weights_take_as_many_calls_as_few(kind: type[FP16Optimizer], same: bool, form: tuple[str, ...]) -> None:
    def calls(number: int, act: Callable[[FP16Optimizer], object]) -> int:
        trained = weights(number)
        updates = optimiser(kind, trained, form)
        step(updates, trained)
        updates.backward(sum(weight.float().sum() for weight in trained))
        with Calls() as counted:
            act(updates)
        return counted.number

    acts = {
        "gradients": lambda updates: updates._sync_fp16_grads_to_fp32(),
        "weights": lambda updates: updates._sync_fp32_params_to_fp16(),
    }
    if form:  # one tensor is cleared by one call as it is
        acts["clearing"] = lambda updates: updates.zero_grad()
    for name, act in acts.items():
        assert (calls(4, act) == calls(40, act)) is same, name


def test_the_norm_of_all_has_the_bits_of_fairseqs(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    trained = [nn.Parameter(torch.zeros(shape)) for shape in ((5, 7), (3,), (1,), (64, 64))]
    for weight in trained:
        weight.grad = torch.randn_like(weight) * 100
    norm = utils.clip_grad_norm_(trained, 0.0)
    by_hand = sum(float((weight.grad.double() ** 2).sum()) for weight in trained) ** 0.5
    monkeypatch.setattr(utils, "multi_tensor_l2norm_available", False)
    assert torch.equal(norm, utils.clip_grad_norm_(trained, 0.0))
    assert float(norm) == pytest.approx(by_hand, rel=1e-6)
