"""The base of all topologies, and the two that others extend: Post-LN and Pre-LN.

A topology builds the norms of the sub-layers, reads a sub-layer's input from the stream, writes its output back
through the shortcut (scaling.py), and reads the stream out after the last layer. The stream is a tuple of tensors,
B x T x C or B x T x n x C, that only the topology reads. Encoder and decoder have one each, which may hold parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn

from realformer_nmt.model.norms import NORMS
from realformer_nmt.model.part_names import BLOCKS
from realformer_nmt.model.topologies.shortcuts import Shortcut

Stream = tuple[Tensor, ...]
Results = tuple[Any, ...]  # of a layer: the stream, and what else it hands on


class Stack(NamedTuple):
    """Stack of layers that a topology and a scaling are for; a side that does not exist has 0 layers."""

    name: str  # encoder or decoder
    encoder_layers: int
    decoder_layers: int
    norm: str = "layer"  # in NORMS
    blocks: int = BLOCKS  # at most so many, of a topology with blocks of layers

    @property
    def alone(self) -> bool:
        return not (self.encoder_layers and self.decoder_layers)

    @property
    def layers(self) -> int:
        return {"encoder": self.encoder_layers, "decoder": self.decoder_layers}[self.name]

    @property
    def sublayers(self) -> int:
        """Number of sub-layers: 3 per layer of a decoder with an encoder, otherwise 2."""
        return self.layers * self.sublayers_per_layer

    @property
    def sublayers_per_layer(self) -> int:
        return 3 if self.name == "decoder" and not self.alone else 2

    def depth(self, index: int) -> int:
        """Return the layer, from 1, of the sub-layer with that index in the stack."""
        return index // self.sublayers_per_layer + 1


class Place(NamedTuple):
    """Position of a sub-layer in its stack."""

    depth: int  # of its layer, from 1
    number: int  # among all sub-layers, from 0
    last: bool  # of its layer


class Norms(nn.Module):
    """Several norms of one sub-layer, or what else it needs, by the names of attributes."""

    def __init__(self, norms: Mapping[str, nn.Module]) -> None:
        super().__init__()
        for name, norm in norms.items():
            self.add_module(name, norm)

    def forward(self, name: str, x: Tensor) -> Tensor:
        normed: Tensor = getattr(self, name)(x)
        return normed


class HeadNorms(nn.Module):
    """The step between the projections of an attention and its heads: here nothing."""

    def forward(self, _name: str, heads: Tensor) -> Tensor:
        """Return queries, keys or values, as the name says, B x H x T x D, changed."""
        return heads


class HeadOutput(nn.Module):
    """The step between the heads of an attention and their output projection: here nothing."""

    def forward(self, _x: Tensor, heads: Tensor) -> Tensor:
        """Return heads, B x T x C, changed; x is the attention's input."""
        return heads


class Topology(nn.Module, ABC):
    """Topology of a stack; norms and their weights have the names of stock fairseq."""

    renormalises = True  # whether the stream stays within bounds, however often a shortcut multiplies it

    has_shortcuts = True  # whether `write` calls the shortcut, which a scaling may weigh

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__()
        self.stack, self.width = stack, width

    def new_norm(self, width: int, eps: float = 1e-5) -> nn.Module:
        """Return a norm of the stack's kind: every norm of a topology is built here."""
        return NORMS[self.stack.norm](width, eps)

    def new_norms(self, *names: str) -> Norms:
        """Return several norms for one sub-layer, by their names."""
        return Norms({name: self.new_norm(self.width) for name in names})

    def norm(self, _place: Place) -> nn.Module:
        """Return a module with all norms of one sub-layer."""
        return self.new_norm(self.width)

    def head_norms(self, _head_width: int, *_names: str) -> nn.Module:
        """Return the module between projections and heads, for query, key and value, as far as there are any."""
        return HeadNorms()

    def head_output(self, _width: int, _heads: int) -> HeadOutput:
        """Return the module between the heads of self-attention and their output projection."""
        return HeadOutput()

    def hidden_norm(self, _ffn_width: int) -> nn.Module:
        """Return the norm between the two products of a feed-forward block."""
        return nn.Identity()

    def final_norm(self) -> nn.Module:
        return nn.Identity()

    def enter(self, x: Tensor) -> Stream:
        return (x,)

    def forward(self, layer: Callable[..., Results], stream: Stream, *state: Any) -> Results:
        """Run a layer, which takes the stream and `state` and returns the stream and what else it hands on.

        Hooks of the topology see the stream before and after each layer.
        """
        return layer(stream, *state)

    @abstractmethod
    def read(self, stream: Stream, norm: nn.Module, place: Place) -> Tensor: ...

    @abstractmethod
    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream: ...

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        output: Tensor = final_norm(stream[0])
        return output


class PostLN(Topology):
    """x = LN(shortcut(x, f(x))): Vaswani et al. 2017."""

    def read(self, stream: Stream, _norm: nn.Module, _place: Place) -> Tensor:
        return stream[0]

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        return (norm(shortcut(stream[0], branch)),)


class PreLN(Topology):
    """x = shortcut(x, f(LN(x))), and LN(x) after the last layer: Xiong et al. 2020."""

    renormalises = False

    def final_norm(self) -> nn.Module:
        return self.new_norm(self.width)

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        normed: Tensor = norm(stream[0])
        return normed

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module, _place: Place) -> Stream:
        return (shortcut(stream[0], branch),)
