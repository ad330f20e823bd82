"""How a sub-layer joins the stream.

A topology reads the sub-layer's input from the stream, writes its output back through the shortcut (scaling.py), and
reads the stream out after the last layer. The stream is a tuple of B x T x C tensors that only the topology looks into.
"""

from fairseq.modules import Fp32LayerNorm
from torch import Tensor, nn

from realformer_nmt.model.scaling import Shortcut

Stream = tuple[Tensor, ...]


class PostLN:
    """x = LN(shortcut(x, f(x))): Vaswani et al. 2017."""

    renormalises = True

    def final_norm(self, _width: int) -> nn.Module:
        return nn.Identity()

    def enter(self, x: Tensor) -> Stream:
        return (x,)

    def read(self, stream: Stream, _norm: nn.Module) -> Tensor:
        return stream[0]

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module) -> Stream:
        return (norm(shortcut(stream[0], branch)),)

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        return final_norm(stream[0])


class PreLN(PostLN):
    """x = shortcut(x, f(LN(x))), and LN(x) after the last layer: Xiong et al. 2020."""

    renormalises = False

    def final_norm(self, width: int) -> nn.Module:
        return nn.LayerNorm(width)

    def read(self, stream: Stream, norm: nn.Module) -> Tensor:
        return norm(stream[0])

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module) -> Stream:
        return (shortcut(stream[0], branch),)


class Dual(PostLN):
    """b = f(x); x = LN(shortcut(x, b)); d = d + b from d = embedding; x + LN(d) after the last layer: ResiDual,
    Xie et al. 2023, section 3. d is kept in fp32, so the paper's factor against fp16 overflow is not needed."""

    def final_norm(self, width: int) -> nn.Module:
        return Fp32LayerNorm(width, eps=1e-7)

    def enter(self, x: Tensor) -> Stream:
        return x, x.float()

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module) -> Stream:
        x, d = stream
        return norm(shortcut(x, branch)), d + branch

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        x, d = stream
        return (x + final_norm(d)).type_as(x)


TOPOLOGIES: dict[str, PostLN] = {"post": PostLN(), "pre": PreLN(), "dual": Dual()}
