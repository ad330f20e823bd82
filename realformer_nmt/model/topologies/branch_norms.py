"""Topologies whose norms stand around or within the branch, or nowhere."""

from torch import Tensor, nn

from realformer_nmt.model.norms import Unnormed
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import HeadOutput, Place, PostLN, PreLN, Stack, Stream, Topology


class NormsAround(Topology):
    """Base of topologies with one norm before the branch and one after it."""

    def norm(self, _place: Place) -> nn.Module:
        return self.new_norms("before", "after")

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        normed: Tensor = norm("before", stream[0])
        return normed


class PeriLN(NormsAround, PreLN):
    """x = shortcut(x, LN(f(LN(x)))), with a norm of the embeddings and a final norm: Kim et al. 2025 (2502.02732).

    The formula of a sub-layer is that of `sandwich` in dandingsky/GPAS (3198068); the norm of the embeddings is
    second-hand.
    The branch is normed after its dropout.
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.embedding_norm = self.new_norm(width)

    def enter(self, x: Tensor) -> Stream:
        return (self.embedding_norm(x),)

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        return (shortcut(stream[0], norm("after", branch)),)


class Keel(NormsAround):
    """x = LN(shortcut(x, f(LN(x)))): Keel (Chen and Wei 2026, 2601.19895), with the scaling `keel`. Second-hand."""

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        return (norm("after", shortcut(stream[0], branch)),)


class ResPost(PreLN):
    """x = shortcut(x, LN(f(x))), and LN(x) after the last layer: Swin-v2 (Liu et al. 2022), OLMo 2 (2025).

    Checked against microsoft/Swin-Transformer (f82860b), whose gains start at 0, here at 1, and transformers' OLMo 2,
    whose norms of queries and keys are left out here. The branch is normed after its dropout.
    """

    def read(self, stream: Stream, _norm: nn.Module, _place: Place) -> Tensor:
        return stream[0]

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        return (shortcut(stream[0], norm(branch)),)


class NormedHeads(HeadOutput):
    """LN of the heads, joined."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, _x: Tensor, heads: Tensor) -> Tensor:
        normed: Tensor = self.norm(heads)
        return normed


class SubLN(PreLN):
    """Pre-LN with a second norm in the branch, before self-attention's output projection and before fc2.

    Sub-LN of Magneto (Wang et al. 2022, 2210.06423), with the gains of the scaling `sub_ln`. As in torchscale's code
    (4d1e0e8), and unlike the paper's figure, encoder-decoder attention has no second norm.
    """

    def head_output(self, width: int, _heads: int) -> HeadOutput:
        return NormedHeads(self.new_norm(width))

    def hidden_norm(self, ffn_width: int) -> nn.Module:
        return self.new_norm(ffn_width)


class NoNorm(PostLN):
    """x = shortcut(x, f(x)), whatever the stack's norm: T-Fixup (Huang et al. 2020), with the scaling `t_fixup`."""

    renormalises = False

    def new_norm(self, width: int, eps: float = 1e-5) -> nn.Module:
        return Unnormed(width, eps)
