"""One call for all weights where fairseq makes one per weight: a GPU waits for Python, which launches each."""

from typing import Any, NamedTuple

import torch
from fairseq import utils
from fairseq.optim import FP16Optimizer
from torch import Tensor

from realformer_nmt.fairseq_patches.patch import Original, patch


class Weight(NamedTuple):
    """Weight of 16 bits, and its copy in fp32 with that copy's gradient; both may be views of all weights' copies."""

    low: Tensor
    high: Tensor
    gradient: Tensor | None


@patch(FP16Optimizer, "_sync_fp16_grads_to_fp32")
def copy_gradients_together(original: Original, optimizer: Any) -> None:
    """Copy all gradients of 16 bits to fp32 in one call. fairseq makes a call per weight."""
    weights = trained(optimizer)
    pairs = [(low.grad, gradient) for low, _, gradient in weights if low.grad is not None and gradient is not None]
    if optimizer._needs_sync and len(pairs) == len(weights):
        torch._foreach_copy_([gradient for _, gradient in pairs], [low for low, _ in pairs])
        optimizer._needs_sync = False
    original(optimizer)  # which copies what is not copied yet


@patch(FP16Optimizer, "_sync_fp32_params_to_fp16")
def copy_weights_together(_: Original, optimizer: Any) -> None:
    """Copy all weights back to 16 bits in one call. fairseq makes a call per weight."""
    weights = trained(optimizer)
    with torch.no_grad():
        torch._foreach_copy_([weight.low for weight in weights], [weight.high for weight in weights])


@patch(FP16Optimizer, "zero_grad")
def clear_gradients_together(original: Original, optimizer: Any) -> None:
    """Clear all gradients in fp32 in one call. fairseq makes a call per weight."""
    copies = [] if optimizer.has_flat_params else optimizer.fp32_params
    cleared = [(weight, weight.grad) for weight in copies if weight.grad is not None]
    for weight, _ in cleared:
        weight.grad = None  # which the original leaves alone
    original(optimizer)
    if cleared:
        torch._foreach_zero_([gradient for _, gradient in cleared])
    for weight, gradient in cleared:
        weight.grad = gradient


def trained(optimizer: Any) -> list[Weight]:
    """Return the weights; with --fp16 their copies lie in one tensor, one after the other."""
    lows, copies = optimizer.fp16_params, optimizer.fp32_params
    if not isinstance(copies, dict):
        return [Weight(low, high, high.grad) for low, high in zip(lows, copies, strict=True)]
    (flat,) = copies.values()  # of the device
    sizes = [low.numel() for low in lows]
    parts = zip(lows, flat.detach().split(sizes), flat.grad.split(sizes), strict=True)
    return [Weight(low, high.view_as(low), gradient.view_as(low)) for low, high, gradient in parts]


def measure_gradients_together() -> None:
    """Take the norms of all gradients in one call. fairseq makes a call per weight, unless apex is installed."""
    if not utils.multi_tensor_l2norm_available:
        utils.multi_tensor_total_norm = norm_of_all
        utils.multi_tensor_l2norm_available = True


def norm_of_all(gradients: list[Tensor]) -> Tensor:
    """Return the norm of all numbers in several tensors, in fp32."""
    norms = torch._foreach_norm(gradients, 2, dtype=torch.float32)
    total: Tensor = torch.stack([norm.to(norms[0].device) for norm in norms]).norm()
    return total
