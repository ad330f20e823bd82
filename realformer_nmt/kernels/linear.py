"""Linear layers that read their weights faster when a CPU decodes: a few rows at a time, always the same weights."""

from typing import Any

import torch
from torch import Tensor, nn

from realformer_nmt.kernels.matmul import by_onednn, onednn_leads, product

WIDE = 2**22  # weights from which on oneDNN's blocks are better than a transposed matrix where it does not lead


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """A layer of torch's very class, which quantize_dynamic asks for, with the products of `Products`."""
    layer = nn.Linear(inputs, outputs, bias)
    products = Products(layer)
    vars(layer).update(forward=products.multiply, make_generation_fast_=products.lay_out)
    return layer


class Products:
    """x W^T + b of a layer; for decoding with a copy of W, laid out as the product of few rows wants it."""

    def __init__(self, layer: nn.Linear) -> None:
        self.layer = layer
        self.copy: Tensor | None = None
        self.state: tuple[int, ...] = ()  # of the weights that were copied

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.layer,)  # the copy is of this machine

    def lay_out(self, **_kwargs: Any) -> None:
        weight = self.layer.weight
        if weight.device.type == "cpu" and weight.dtype == torch.float32 and torch.backends.mkldnn.is_available():
            blocks = weight.numel() >= WIDE or onednn_leads(weight.device)
            lay = torch.ops.mkldnn._reorder_linear_weight if blocks else _transposed
            weight.__class__ = Watched
            self.copy, self.state = lay(weight.detach()), _state(weight)

    def multiply(self, x: Tensor) -> Tensor:
        weight, bias, copy = self.layer.weight, self.layer.bias, self.copy
        if copy is None or torch.is_grad_enabled() or self.state != _state(weight):
            return product(x, weight, bias)
        return by_onednn(x, copy, bias) if copy.is_mkldnn else nn.functional.linear(x, copy, bias)


class Watched(nn.Parameter):
    """A weight that counts who asks for its `data`: what is written there changes neither its version nor its place."""

    asked = 0

    @property
    def data(self) -> Tensor:
        self.asked += 1
        return super().data

    @data.setter
    def data(self, value: Tensor) -> None:
        self.asked += 1
        vars(torch._C.TensorBase)["data"].__set__(self, value)


def _transposed(weight: Tensor) -> Tensor:
    """The same matrix, its columns contiguous."""
    return weight.t().contiguous().t()


def _state(weight: Tensor) -> tuple[int, ...]:
    """Weights that were written to, moved or cast since have another version or address."""
    return weight._version, weight.data_ptr(), getattr(weight, "asked", 0)
