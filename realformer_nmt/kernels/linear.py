"""Linear layers that multiply faster when a CPU decodes: a few rows at a time, always the same weights."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.kernels.matmul import product
from realformer_nmt.kernels.precision import FORMS, demand_supported

PIECE = 8192  # outputs: what a batch's beams have of them stays in the cache of a processor


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """A layer of torch's very class, which quantize_dynamic asks for, with the products of `Products`."""
    layer = nn.Linear(inputs, outputs, bias)
    products = Products(layer)
    vars(layer).update(forward=products.multiply, make_generation_fast_=products.lay_out, pieces=products.pieces)
    return layer


def pieces_of(layer: nn.Linear, x: Tensor) -> Iterator[Tensor]:
    """The outputs of a layer, some after the other: N x up to PIECE each."""
    pieces: Callable[[Tensor], Iterator[Tensor]] = vars(layer)["pieces"]
    return pieces(x)


class Products:
    """x W^T + b of a layer; for decoding with W in another form, as the product of few rows wants it."""

    def __init__(self, layer: nn.Linear) -> None:
        self.layer = layer
        self.forms: Sequence[Callable[[Tensor], Tensor]] = ()  # of PIECE outputs each
        self.state: tuple[int, ...] = ()  # of the weights that they were made from

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.layer,)  # forms are of this machine

    def lay_out(self, precision: str = "fp32", **_kwargs: Any) -> None:
        weight, bias = self.layer.weight, self.layer.bias
        if weight.device.type != "cpu" or weight.dtype != torch.float32:
            if precision != "fp32":
                raise OptionError(
                    f"a model in {weight.dtype} on {weight.device.type} cannot decode in {precision}: that is for a "
                    "model in fp32 on a CPU; leave out --fp16 and --bf16 and give --cpu, or leave the precision out"
                )
            return
        if torch.backends.mkldnn.is_available():
            demand_supported(precision)
            weight.__class__ = Watched
            biases: Sequence[Tensor | None] = [None] * len(weight) if bias is None else bias.detach().split(PIECE)
            parts = zip(weight.detach().split(PIECE), biases, strict=False)
            self.forms, self.state = [FORMS[precision](*part) for part in parts], _state(weight)

    def multiply(self, x: Tensor) -> Tensor:
        pieces = list(self.pieces(x))
        return pieces[0] if len(pieces) == 1 else torch.cat(pieces, -1)

    def pieces(self, x: Tensor) -> Iterator[Tensor]:
        weight = self.layer.weight
        if not self.forms or torch.is_grad_enabled() or self.state != _state(weight):
            yield product(x, weight, self.layer.bias)
        else:
            for form in self.forms:
                yield form(x)


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


def _state(weight: Tensor) -> tuple[int, ...]:
    """Weights that were written to, moved or cast since have another version or address."""
    return weight._version, weight.data_ptr(), getattr(weight, "asked", 0)
