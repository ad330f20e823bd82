"""The weight of the shortcut around a sub-layer, and the gain of the branch's initial weights.

A scaling is a function from a stack to a `Scaling`, whose shortcut is called as `shortcut(x, branch)`.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from realformer_nmt.model.topologies.shortcuts import (
    ChannelScaled,
    Constant,
    Decayed,
    Growing,
    LowRank,
    Orthogonal,
    Plain,
    Profiled,
    Shortcut,
    Trained,
)
from realformer_nmt.model.topologies.topology import Stack


class Gains(NamedTuple):
    """Xavier gains of the branch's weights; the first two are stock fairseq's."""

    query_key: float = 2**-0.5
    value: float = 2**-0.5
    output: float = 1.0  # out_proj, fc1 and fc2


def _at_any_depth(gains: Gains) -> Callable[[int], Gains]:
    return lambda _depth: gains


class Scaling(NamedTuple):
    shortcut: Callable[[int, int], Shortcut]  # width, index of the sub-layer in its stack
    gains: Callable[[int], Gains] = _at_any_depth(Gains())  # by the depth of the layer, from 1
    # for attention to a memory of another width; the default is stock fairseq's
    unequal: Callable[[int], Gains] = _at_any_depth(Gains(1.0, 1.0))
    weight: float = 1.0  # initial weight of the shortcut; 1 if it depends on data
    memory: Callable[[int], Gains] | None = None  # for encoder-decoder attention, where they differ
    embedding: float = 1.0  # gain of the initial embeddings

    def memory_gains(self, depth: int, equal_widths: bool) -> Gains:
        """Return the gains for encoder-decoder attention, to a memory of the same width or another."""
        return (self.memory or self.gains)(depth) if equal_widths else self.unequal(depth)

    @property
    def weighs(self) -> bool:
        """Tell whether its shortcuts are other than x + f(x)."""
        return not isinstance(self.shortcut(1, 1), Plain)


def _none(_stack: Stack) -> Scaling:
    return Scaling(lambda _width, _index: Plain())


def _admin(_stack: Stack) -> Scaling:
    """Return ADMIN; the first w stays 1, so that it can be folded into a plain Post-LN transformer exactly."""
    return Scaling(lambda width, index: Profiled(width) if index else Plain())


def _admin_decayed(_stack: Stack) -> Scaling:
    """Return ADMIN for training with weight decay, as its authors train."""
    return Scaling(lambda width, index: Decayed(width) if index else Plain())


def _admin_fixed(stack: Stack) -> Scaling:
    """Return ADMIN without a profile: w = sqrt((N+1) / ln(N+1) - 1), N sub-layers in the stack (admin-torch)."""
    n = stack.sublayers + 1
    w = math.sqrt(n / math.log(n) - 1)
    return Scaling(lambda width, _index: Trained(width, w), weight=w)


def _deepnorm(stack: Stack) -> Scaling:
    """Return a * x + f(x), b the Xavier gain of v, out, fc1 and fc2: DeepNet (Wang et al. 2022), figure 2.

    torchscale (4d1e0e8) has the same a; in its encoder b is 1.15 / size, where the paper has 0.87 = 1 / 1.15.
    """
    if stack.alone:
        a, b = (2 * stack.layers) ** (1 / 4), (8 * stack.layers) ** (-1 / 4)
    elif stack.name == "encoder":
        size = (stack.encoder_layers**4 * stack.decoder_layers) ** (1 / 16)
        a, b = 0.81 * size, 0.87 / size
    else:
        a, b = (3 * stack.decoder_layers) ** (1 / 4), (12 * stack.decoder_layers) ** (-1 / 4)
    gains = _at_any_depth(Gains(query_key=1.0, value=b, output=b))
    return Scaling(lambda _width, _index: Constant(a), gains, gains, weight=a)


def _times(factor: float) -> Gains:
    """Return stock fairseq's gains, all multiplied by a factor."""
    return Gains(*(factor * gain for gain in Gains()))


def _all_equal(factor: float) -> Gains:
    """Return the gains of encoder-decoder attention between different widths, where each matrix has the factor."""
    return Gains(factor, factor, factor)


def _b2t(stack: Stack) -> Scaling:
    """Return plain shortcuts, all weight matrices of a layer times n^-1/2, n the layers of the stack.

    In the code of B2T (takase/b2t_connection, c8e2ad4), not in its paper.
    """
    factor = stack.layers**-0.5
    return Scaling(lambda _width, _index: Plain(), _at_any_depth(_times(factor)), _at_any_depth(_all_equal(factor)))


def _ds_init(_stack: Stack) -> Scaling:
    """Return plain shortcuts, all weight matrices of layer l times l^-1/4: DS-Init (Zhang et al. 2019).

    Checked against bzhangGo/zero (d97e2c2), which scales the variance of Xavier's distribution by l^-1/2; the paper
    writes the bound by l^-1/2.
    """

    def gains(depth: int) -> Gains:
        return _times(depth**-0.25)

    return Scaling(lambda _width, _index: Plain(), gains, lambda depth: _all_equal(depth**-0.25))


def _keel(stack: Stack) -> Scaling:
    """Return L x + f(x), L the layers of the stack, not trained: Keel (Chen and Wei 2026), second-hand.

    Of the sources one counts layers, as here, and another sub-layers.
    """
    a = float(stack.layers)
    return Scaling(lambda _width, _index: Constant(a), weight=a)


def _layer_scale(stack: Stack) -> Scaling:
    """Return x + a f(x), a per channel, from 0.1 in up to 18 layers, 1e-5 in up to 24, 1e-6 in more: LayerScale.

    Checked against facebookresearch/deit (7e160fe), which starts two of its models of 36 layers at 1e-5; 0.1 is
    second-hand.
    """
    a = 0.1 if stack.layers <= 18 else 1e-5 if stack.layers <= 24 else 1e-6
    return Scaling(lambda width, _index: ChannelScaled(width, a))


def _laurel(_stack: Stack) -> Scaling:
    """Return x + f(x) + B A x of rank 64, as in the authors' model of 4B weights; all ranks from 32 are good there."""
    return Scaling(lambda width, _index: LowRank(width, min(64, width)))


def _orthogonal(_stack: Stack) -> Scaling:
    return Scaling(lambda _width, _index: Orthogonal())


def _sub_ln(stack: Stack) -> Scaling:
    """Return plain shortcuts, v, out, fc1 and fc2 times g: Magneto (Wang et al. 2022), figure 2.

    g = sqrt(log(3 M)) in the decoder, sqrt(log(3 M) log(2 N) / 3) in its encoder, and sqrt(log(2 L)) for a stack alone,
    with N and M layers. As in torchscale (4d1e0e8) encoder-decoder attention keeps fairseq's gains.
    """
    if stack.alone:
        square = math.log(2 * stack.layers)
    elif stack.name == "decoder":
        square = math.log(3 * stack.decoder_layers)
    else:
        square = math.log(3 * stack.decoder_layers) * math.log(2 * stack.encoder_layers) / 3
    g = math.sqrt(square)
    gains = _at_any_depth(Gains(value=g * Gains().value, output=g))
    return Scaling(lambda _width, _index: Plain(), gains, memory=_at_any_depth(Gains()))


def _t_fixup(stack: Stack) -> Scaling:
    """Return plain shortcuts, and T-Fixup's initial weights (Huang et al. 2020), for the topology `no_norm`.

    v, out, fc1 and fc2 are Xavier's times 0.67 N^-1/4 in the encoder and (9 M)^-1/4 in the decoder, embeddings times
    (9 N)^-1/4, or (9 M)^-1/4 where the decoder has its own; N and M are numbers of layers. Checked against
    layer6ai-labs/T-Fixup, whose sqrt(2) for v undoes fairseq's 1 / sqrt(2).
    """
    g = 0.67 * stack.layers**-0.25 if stack.name == "encoder" else (9 * stack.layers) ** -0.25
    gains = _at_any_depth(Gains(value=g, output=g))
    return Scaling(lambda _width, _index: Plain(), gains, gains, embedding=(9 * stack.layers) ** -0.25)


def growing(updates: int) -> Callable[[Stack], Scaling]:
    """Return ProRes with T updates: shortcuts that grow over T updates per layer, one layer after the other."""
    return lambda stack: Scaling(lambda _width, index: Growing(updates * stack.depth(index)))


SCALINGS: dict[str, Callable[[Stack], Scaling]] = {
    "none": _none,
    "admin": _admin,
    "admin_decayed": _admin_decayed,
    "admin_fixed": _admin_fixed,
    "deepnorm": _deepnorm,
    "b2t": _b2t,
    "ds_init": _ds_init,
    "keel": _keel,
    "laurel": _laurel,
    "layer_scale": _layer_scale,
    "orthogonal": _orthogonal,
    "pro_res": growing(1000),
    "sub_ln": _sub_ln,
    "t_fixup": _t_fixup,
}
