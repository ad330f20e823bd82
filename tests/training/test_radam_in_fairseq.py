"""RAdam inside fairseq: low precision, flat parameters, saved state, many ranks."""

import io

import pytest
import torch
import torch.multiprocessing
from fairseq import optim
from fairseq.optim import FP16Optimizer, MemoryEfficientFP16Optimizer
from formulas.gradients import give_gradients, parameters
from programs.fairseq_config import configured

from realformer_nmt.training.radam import FairseqRAdam, RAdam


def test_one_flat_parameter_moves_as_its_pieces() -> None:
    """fairseq's FP16Optimizer relies on this when it flattens all parameters into one."""
    pieces = parameters()
    flat = torch.nn.Parameter(torch.cat([piece.detach().reshape(-1) for piece in pieces]))
    config = configured("--optimizer", "radam", "--lr", 0.01).optimizer
    whole, piecewise = optim.build_optimizer(config, [flat]), optim.build_optimizer(config, pieces)
    assert whole.supports_flat_params
    for step in range(8):
        give_gradients(pieces, step)
        flat.grad = torch.cat([piece.grad.reshape(-1) for piece in pieces])
        whole.step()
        piecewise.step()
    torch.testing.assert_close(flat, torch.cat([piece.reshape(-1) for piece in pieces]), rtol=1e-6, atol=1e-7)


def low_precision(wrapper: type, dtype: torch.dtype, to: list[torch.nn.Parameter]) -> FairseqRAdam:
    """fairseq's wrapper around RAdam; the loss scale starts at 4, so that gradients arrive four times too large."""
    config = configured("--optimizer", "radam", "--lr", 0.01, "--weight-decay", 0.1, "--fp16-init-scale", 4)
    config.common.bf16 = dtype == torch.bfloat16
    config.common.fp16_no_flatten_grads = True  # flat ones need CUDA
    return wrapper.build_optimizer(config, to)


def scaled_step(optimizer: FairseqRAdam, to: list[torch.nn.Parameter], step: int) -> None:
    optimizer.zero_grad()
    optimizer.backward(torch.zeros((), requires_grad=True))
    give_gradients(to, step)
    if optimizer.scaler is not None:
        for parameter in to:
            parameter.grad.mul_(optimizer.scaler.loss_scale)
    optimizer.clip_grad_norm(0.0)
    optimizer.step()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_memory_efficient_updates_are_fp32_rounded_once(dtype: torch.dtype) -> None:
    weights, reference = parameters(dtype), parameters()
    optimizer = low_precision(MemoryEfficientFP16Optimizer, dtype, weights)
    exact = RAdam(reference, lr=0.01, weight_decay=0.1)
    for step in range(12):
        with torch.no_grad():
            for parameter, wide in zip(weights, reference, strict=True):
                wide.copy_(parameter)
        give_gradients(reference, step)
        exact.step()
        scaled_step(optimizer, weights, step)
        assert all(torch.equal(mine, wide.to(dtype)) for mine, wide in zip(weights, reference, strict=True))
    for parameter, wide in zip(weights, reference, strict=True):
        assert parameter.dtype == dtype
        for name in ("exp_avg", "exp_avg_sq"):
            assert torch.equal(optimizer.optimizer.state[parameter][name], exact.state[wide][name])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_fp16_optimizer_keeps_fp32_masters(dtype: torch.dtype) -> None:
    weights = parameters(dtype)
    reference = [torch.nn.Parameter(parameter.detach().float()) for parameter in weights]
    optimizer, exact = low_precision(FP16Optimizer, dtype, weights), RAdam(reference, lr=0.01, weight_decay=0.1)
    for step in range(12):
        give_gradients(reference, step)
        exact.step()
        scaled_step(optimizer, weights, step)
    for mine, master, wide in zip(weights, optimizer.fp32_params, reference, strict=True):
        torch.testing.assert_close(master, wide, rtol=1e-6, atol=1e-7)
        assert torch.equal(mine, master.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_goes_on_bit_by_bit_from_a_saved_state(dtype: torch.dtype) -> None:
    def optimizer_of(to: list[torch.nn.Parameter]) -> FairseqRAdam:
        if dtype == torch.float32:
            return optim.build_optimizer(configured("--optimizer", "radam", "--lr", 0.01).optimizer, to)
        return low_precision(MemoryEfficientFP16Optimizer, dtype, to)

    def update(optimizer: FairseqRAdam, to: list[torch.nn.Parameter], step: int) -> None:
        give_gradients(to, step)
        optimizer.step()

    weights = parameters(dtype)
    optimizer, file = optimizer_of(weights), io.BytesIO()
    for step in range(8):
        update(optimizer, weights, step)
    torch.save((optimizer.state_dict(), [parameter.detach() for parameter in weights]), file)
    file.seek(0)
    state, values = torch.load(file, weights_only=True)
    resumed_parameters = [torch.nn.Parameter(value) for value in values]
    resumed = optimizer_of(resumed_parameters)
    resumed.load_state_dict(state)
    for step in range(8, 16):
        update(optimizer, weights, step)
        update(resumed, resumed_parameters, step)
    assert all(torch.equal(mine, other) for mine, other in zip(weights, resumed_parameters, strict=True))
    for mine, other in zip(weights, resumed_parameters, strict=True):
        assert torch.equal(optimizer.optimizer.state[mine]["exp_avg_sq"], resumed.optimizer.state[other]["exp_avg_sq"])
