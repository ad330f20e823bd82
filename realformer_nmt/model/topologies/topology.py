"""The base of all topologies, and the two that others extend: Post-LN and Pre-LN.

A topology builds the norms of the sub-layers, reads a sub-layer's input from the stream, writes its output back
through the shortcut (scaling.py), and reads the stream out after the last layer. The stream is a tuple of tensors,
B x T x C or B x T x n x C, that only the topology reads. Encoder and decoder have one each, which may hold parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn

from realformer_nmt.model.scaling import Stack
from realformer_nmt.model.topologies.head_mixing import HeadMixing
from realformer_nmt.model.topologies.shortcuts import Shortcut

Stream = tuple[Tensor, ...]
Results = tuple[Any, ...]  # of a layer: the stream, and what else it hands on


class Place(NamedTuple):
    """Position of a sub-layer in its stack."""

    depth: int  # of its layer, from 1
    number: int  # among all sub-layers, from 0
    last: bool  # of its layer


class Norms(nn.Module):
    """Several norms of one sub-layer, by their names."""

    def __init__(self, width: int, *names: str) -> None:
        super().__init__()
        for name in names:
            self.add_module(name, nn.LayerNorm(width))

    def forward(self, name: str, x: Tensor) -> Tensor:
        normed: Tensor = getattr(self, name)(x)
        return normed


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

    def norm(self, _place: Place) -> nn.Module:
        """Return a module with all norms of one sub-layer."""
        return nn.LayerNorm(self.width)

    def head_output(self, _width: int, _heads: int) -> HeadOutput:
        """Return the module between the heads of self-attention and their output projection."""
        return HeadOutput()

    def memory_head_output(self, _width: int, _heads: int) -> HeadOutput:
        """Return the same of encoder-decoder attention."""
        return HeadOutput()

    def head_mixing(self, _heads: int, _head_width: int, _depth: int) -> HeadMixing:
        """Return the module of an attention's heads around the softmax; depth counts from 1."""
        return HeadMixing()

    def hidden_norm(self, _ffn_width: int) -> nn.Module:
        """Return the norm between the two products of a feed-forward block."""
        return nn.Identity()

    def final_norm(self) -> nn.Module:
        return nn.Identity()

    def enter(self, x: Tensor) -> Stream:
        return (x,)

    def run(self, layer: Callable[..., Results], stream: Stream, *state: Any) -> Results:
        """Run a layer, which takes the stream and `state` and returns the stream and what else it hands on."""
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
        return nn.LayerNorm(self.width)

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        normed: Tensor = norm(stream[0])
        return normed

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module, _place: Place) -> Stream:
        return (shortcut(stream[0], branch),)
