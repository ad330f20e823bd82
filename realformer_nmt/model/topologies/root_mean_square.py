"""The norm by root mean square, without a gain."""

from torch import Tensor


def rms_normed(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Return x / sqrt(mean(x^2) + eps), computed in fp32; torch's own operation cannot be exported to ONNX."""
    exact = x.float()
    return (exact * (exact.square().mean(-1, keepdim=True) + eps).rsqrt()).type_as(x)
