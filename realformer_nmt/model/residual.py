"""The topologies: how a sub-layer reads from the stream and writes to it.

A topology builds the norms of the sub-layers, reads a sub-layer's input from the stream, writes its output back
through the shortcut (scaling.py), and reads the stream out after the last layer. The stream is a tuple of B x T x C
tensors that only the topology reads. Encoder and decoder have one each, which may hold parameters.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from fairseq.modules import Fp32LayerNorm
from torch import Tensor, nn

from realformer_nmt.model.scaling import Shortcut, Stack

Stream = tuple[Tensor, ...]


class Place(NamedTuple):
    """Position of a sub-layer in its stack."""

    depth: int  # of its layer, from 1
    number: int  # among all sub-layers, from 0
    last: bool  # of its layer


class Topology(nn.Module, ABC):
    """Topology of a stack; norms and their weights have the names of stock fairseq."""

    renormalises = True  # whether the stream stays within bounds, however often a shortcut multiplies it

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__()
        self.stack, self.width = stack, width

    def norm(self, _place: Place) -> nn.Module:
        """Return a module with all norms of one sub-layer."""
        return nn.LayerNorm(self.width)

    def final_norm(self) -> nn.Module:
        return nn.Identity()

    def enter(self, x: Tensor) -> Stream:
        return (x,)

    @abstractmethod
    def read(self, stream: Stream, norm: nn.Module, place: Place) -> Tensor: ...

    @abstractmethod
    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream: ...

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        out: Tensor = final_norm(stream[0])
        return out


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
        x: Tensor = norm(stream[0])
        return x

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module, _place: Place) -> Stream:
        return (shortcut(stream[0], branch),)


class Dual(Topology):
    """b = f(x); x = LN(shortcut(x, b)); d = d + b from d = embedding; x + LN(d) after the last layer.

    ResiDual, Xie et al. 2023, section 3. d is in fp32, so the paper's factor against fp16 overflow is not needed.
    """

    def final_norm(self) -> nn.Module:
        norm: nn.LayerNorm = Fp32LayerNorm(self.width, eps=1e-7)
        return norm

    def enter(self, x: Tensor) -> Stream:
        return x, x.float()

    def read(self, stream: Stream, _norm: nn.Module, _place: Place) -> Tensor:
        return stream[0]

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        x, d = stream
        return norm(shortcut(x, branch)), d + branch

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        x, d = stream
        out: Tensor = x + final_norm(d)
        return out.type_as(x)


TOPOLOGIES: dict[str, type[Topology]] = {"post": PostLN, "pre": PreLN, "dual": Dual}
