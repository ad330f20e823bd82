"""Linear layers that multiply faster when a CPU decodes: a few rows at a time, always the same weights."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import torch
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError, UserError
from realformer_nmt.kernels.matmul import has_onednn, product
from realformer_nmt.kernels.precision import EXACT, FORMS, check_supported

PIECE = 8192


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """Return an nn.Linear, whose exact class quantize_dynamic requires, that multiplies by `Products`."""
    layer = nn.Linear(inputs, outputs, bias)
    products = Products(layer)
    vars(layer).update(
        forward=products.multiply,
        make_generation_fast_=products.lay_out,
        pieces=products.pieces,
        release=products.release,
    )
    return layer


def pieces_of(layer: nn.Linear, x: Tensor) -> Iterator[Tensor]:
    """Return the outputs of a layer in pieces, N x up to PIECE each; those of a quantised layer in one."""
    pieces: Callable[[Tensor], Iterator[Tensor]] | None = vars(layer).get("pieces")
    return iter([layer(x)]) if pieces is None else pieces(x)


RELEASED = "this model was prepared for decoding and has lost its fp32 weights: load its checkpoint again"


class Products:
    """x W^T + b of a layer; when decoding, with W in the form that is fastest for few rows.

    For several layers with the same input, their outputs side by side.
    """

    def __init__(self, *layers: nn.Linear) -> None:
        self.layers = layers
        self.forms: Sequence[Callable[[Tensor], Tensor]] = ()  # each for PIECE outputs
        self.state: list[tuple[int, ...]] = []  # of the weights and biases from which the forms were built
        self.released = False

    def __reduce__(self) -> tuple[Any, ...]:
        if self.released:
            raise UserError(RELEASED)
        return type(self), self.layers  # forms are specific to this machine

    def lay_out(self, precision: str = EXACT, **_kwargs: Any) -> None:
        weights = [layer.weight for layer in self.layers]
        kinds = {(weight.dtype, weight.device.type) for weight in weights}
        if kinds != {(torch.float32, "cpu")}:
            if precision != EXACT:
                dtype, device = kinds.pop()
                raise OptionError(
                    f"a model in {dtype} on {device} cannot decode in {precision}: that is for a "
                    "model in fp32 on a CPU; leave out --fp16 and --bf16 and give --cpu, or leave the precision out"
                )
            return
        check_supported(precision)
        # Changes of weights made in torch.inference_mode go unseen; in another precision the weights are released
        if has_onednn() and (precision != EXACT or not any(map(torch.is_inference, weights))):
            for parameter in _parameters(self.layers):
                parameter.__class__ = Watched
            weight = torch.cat([weight.detach() for weight in weights])
            present = [layer.bias.detach() for layer in self.layers if layer.bias is not None]
            biases: Iterable[Tensor | None] = torch.split(torch.cat(present), PIECE) if present else repeat(None)
            parts = zip(torch.split(weight, PIECE), biases, strict=False)
            self.forms = [FORMS[precision](part, bias) for part, bias in parts]
            self.state = _states(self.layers)

    def release(self) -> None:
        """Release the weights if decoding uses another form of them."""
        if self.forms:
            self.released = True
            for layer in self.layers:
                layer.register_parameter("weight", None)

    def laid_out(self) -> bool:
        if self.released:
            return True
        usable = bool(self.forms) and not torch.is_grad_enabled()
        return usable and self.state == _states(self.layers)

    def multiply(self, x: Tensor) -> Tensor:
        if len(self.forms) == 1 and self.laid_out():
            return self.forms[0](x)
        pieces = list(self.pieces(x))
        return pieces[0] if len(pieces) == 1 else torch.cat(pieces, -1)

    def pieces(self, x: Tensor) -> Iterator[Tensor]:
        if self.laid_out():
            for form in self.forms:
                yield form(x)
        else:
            for layer in self.layers:
                yield product(x, layer.weight, layer.bias)


class Joint(Products):
    """Single product of several layers with the same sizes and input, when a CPU decodes."""

    def lay_out(self, precision: str = EXACT, **_kwargs: Any) -> None:
        for layer in self.layers:
            vars(layer).pop("make_generation_fast_", None)
        super().lay_out(precision)

    def outputs(self, x: Tensor) -> Sequence[Tensor]:
        if self.laid_out():
            return self.multiply(x).chunk(len(self.layers), -1)
        return [layer(x) for layer in self.layers]


class Watched(nn.Parameter):
    """Weight that counts accesses to its `data`, since writing there changes neither its version nor its address."""

    accesses = 0

    @property
    def data(self) -> Tensor:
        self.accesses += 1
        return super().data

    @data.setter
    def data(self, value: Tensor) -> None:
        self.accesses += 1
        vars(torch._C.TensorBase)["data"].__set__(self, value)


def _states(layers: Sequence[nn.Linear]) -> list[tuple[int, ...]]:
    """Return what changes when weights are written to, moved or cast: version (of inference: 0), address, accesses."""
    return [
        (0 if each.is_inference() else each._version, each.data_ptr(), getattr(each, "accesses", 0))
        for each in _parameters(layers)
    ]


def _parameters(layers: Sequence[nn.Linear]) -> list[nn.Parameter]:
    return [each for layer in layers for each in layer._parameters.values() if each is not None]
