"""The products of linear layers, on the CPU by the faster of torch's two libraries, oneDNN and MKL."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from realformer_nmt.kernels.native.library import instructions

LARGE = 2**16  # number of weights from which oneDNN's slower calls pay


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x weight^T + bias."""
    large = weight.numel() >= LARGE and x.numel() > 0
    if large and weight.dtype == x.dtype == torch.float32 and onednn_leads(weight.device):
        return multiply_by_onednn(x, weight, bias)
    return torch.nn.functional.linear(x, weight, bias)


def onednn_leads(device: torch.device) -> bool:
    return device.type == "cpu" and not torch.is_autocast_enabled("cpu") and not _mkl_leads()


def _mkl_leads() -> bool:
    """Tell whether MKL, torch's default in fp32, is the faster: its best code runs on Intel's processors only."""
    return "GenuineIntel" in instructions() or not has_onednn()


def has_onednn() -> bool:
    is_available: Callable[[], bool] = torch.backends.mkldnn.is_available  # untyped in torch
    return is_available()


class Product(torch.autograd.Function):
    """y = x W^T + b, d x = d y W, d W = d y^T x, d b = the sum of d y."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return by_onednn(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_y: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        rows, d_rows = (each.reshape(-1, each.size(-1)) for each in (x, d_y))  # N x inputs, N x outputs
        return (
            by_onednn(d_y, weight.t()) if ctx.needs_input_grad[0] else None,
            by_onednn(d_rows.t(), rows.t()) if ctx.needs_input_grad[1] else None,
            d_rows.sum(0) if ctx.needs_input_grad[2] else None,
        )


multiply_by_onednn: Callable[[Tensor, Tensor, Tensor | None], Tensor] = Product.apply


def by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x weight^T + bias by oneDNN; the weight may be in oneDNN's blocks."""
    y: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")
    return y
