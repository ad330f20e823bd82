"""The table of norms: which one every topology builds, for a width and an epsilon.

Each computes in fp32 and returns the type of its input, which may be more exact than that of its weights.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm


def rms_normed(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Return x / sqrt(mean(x^2) + eps), computed in fp32; torch's own operation cannot be exported to ONNX."""
    return (x * rms_factor(x, eps)).type_as(x)


def rms_factor(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Return 1 / sqrt(mean(x^2) + eps) in fp32, a number per vector."""
    return (x.float().square().mean(-1, keepdim=True) + eps).rsqrt()


class LayerNorm(nn.LayerNorm):
    """(x - mean(x)) / sqrt(var(x) + eps) * g + b: Ba et al. 2016 (1607.06450)."""

    bounds = True  # whether its output stays within bounds, however large its input

    def forward(self, x: Tensor) -> Tensor:
        exact = torch.promote_types(x.dtype, self.weight.dtype)
        return layer_norm(x, self.normalized_shape, self.weight.to(exact), self.bias.to(exact), self.eps)


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * g: Zhang and Sennrich 2019 (1910.07467)."""

    bounds = True

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return (rms_normed(x.float(), self.eps) * self.weight).type_as(x)


class ScaleNorm(nn.Module):
    """g x / max(|x|, eps), g one number, which starts at sqrt(width): Nguyen and Salazar 2019 (1910.05895).

    Checked against tnq177/transformers_without_tears. Their FixNorm, embeddings of unit length, is left out.
    """

    bounds = True

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((1,), math.sqrt(width)))

    def forward(self, x: Tensor) -> Tensor:
        exact = x.float()
        length: Tensor = torch.linalg.vector_norm(exact, dim=-1, keepdim=True).clamp(min=self.eps)
        return (exact / length * self.weight).type_as(x)


class DynamicTanh(nn.Module):
    """tanh(a x) * g + b, a one number, which starts at 0.5: DyT, Zhu et al. 2025 (2503.10622).

    Checked against jiachenzhu/DyT. It looks at each channel alone, so it has no use for an epsilon.
    """

    bounds = True

    def __init__(self, width: int, _eps: float = 1e-5) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.full((1,), 0.5))
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return (torch.tanh(self.slope * x.float()) * self.weight + self.bias).type_as(x)


class Unnormed(nn.Identity):
    """x: no norm."""

    bounds = False


Norm = LayerNorm | RMSNorm | ScaleNorm | DynamicTanh | Unnormed

NORMS: dict[str, type[Norm]] = {
    "layer": LayerNorm,
    "rms": RMSNorm,
    "scale": ScaleNorm,
    "dyt": DynamicTanh,
    "none": Unnormed,
}
