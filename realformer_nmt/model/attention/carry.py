"""Residual attention: scores that attention carries from layer to layer.

What is carried is a tuple of tensors that only the carry reads; the first layer gets an empty one. `values` is called
when values are projected, which for encoder-decoder attention in beam search is at the first step only.
"""

from collections.abc import Sequence

from torch import Tensor

from realformer_nmt.model.attention.depth_pairs import FeedForwardPair, Pair
from realformer_nmt.model.attention.score_source import NoScores, ScoreSource

Carried = tuple[Tensor, ...]


class Carry:
    """logits_l = scores_l: nothing is carried."""

    keeps_scores = True  # so that torch's kernel, which does not return them, may compute them
    needs_keys = False  # whether scores must be of queries and keys alone

    def source(self, source: ScoreSource, _depth: int) -> ScoreSource:
        """Return the source of a layer's scores, for the one that it would have; depth counts from 1."""
        return source

    def memory_carry(self) -> "Carry":
        """Return the carry of encoder-decoder attention, for this one of self-attention."""
        return self

    def values(self, value: Tensor, carried: Carried, _depth: int) -> tuple[Tensor, Carried]:
        """Return the values to mix, for this layer's, B x H x S x D, and what is carried; depth counts from 1."""
        return value, carried

    def pair(self, pair: Pair, carried: Carried, depth: int) -> tuple[Pair, Carried]:
        """Return the values to mix, and this layer's keys if its scores need any, and what is carried."""
        value, carried = self.values(pair[0], carried, depth)
        return (value, *pair[1:]), carried

    def below(self, _carried: Carried) -> Sequence[Pair]:
        """Return the pairs of the layers below that each query sees at its own position, beside its layer's keys."""
        return ()

    def feed_forward_pair(self, _width: int, _heads: int) -> FeedForwardPair | None:
        """Return the module that adds what is carried of a feed-forward block's input, of a layer below another."""
        return None

    def scores(self, raw: Tensor, carried: Carried, _depth: int) -> tuple[Tensor, Carried]:
        """Return the logits, for this layer's raw scores, B or 1 x H x T x S, and what is carried."""
        return raw, carried

    def divisor(self, _depth: int) -> int | None:
        """Return the divisor of the sum of all scores so far; None if the logits are the layer's scores alone.

        A class that does not define this method itself decodes without the package's kernel.
        """
        return None

    def depth_without(self, depth: int, _layer: int) -> int:
        """Return the depth by which a layer counts the scores so far when a layer below it is left out."""
        return depth


class RunningSum(Carry):
    """total_l = scores_l + total_{l-1}, logits_l = total_l: RealFormer (He et al. 2021), section 3."""

    keeps_scores = False

    def scores(self, raw: Tensor, carried: Carried, _depth: int) -> tuple[Tensor, Carried]:
        total = raw + carried[0] if carried else raw.float()  # fp32: sixty fp16 scores would overflow
        return total, (total,)

    def divisor(self, _depth: int) -> int | None:
        return 1


class RunningMean(RunningSum):
    """logits_l = total_l / l with the total of the running sum: RealFormer, section 4.1.3 and table 7."""

    def scores(self, raw: Tensor, carried: Carried, depth: int) -> tuple[Tensor, Carried]:
        total, carried = super().scores(raw, carried, depth)
        return total / depth, carried

    def divisor(self, depth: int) -> int | None:
        return depth

    def depth_without(self, depth: int, _layer: int) -> int:
        return depth - 1


class FirstValues(Carry):
    """V_l = (V_l + V_1) / 2 for l > 1: value residual learning (Zhou et al. 2024, 2410.17897), its fixed form.

    Checked against Zcchill/Value-Residual-Learning. Each of the three chains has the V_1 of its own first layer.
    """

    def values(self, value: Tensor, carried: Carried, _depth: int) -> tuple[Tensor, Carried]:
        return ((value + carried[0]) / 2, carried) if carried else (value, (value,))


class MeanAndFirstValues(FirstValues, RunningMean):
    """The running mean of scores and the first layer's values; what is carried is V_1, if there is one, and the sum.

    Between a first layer's values and its scores V_1 stands in the place of the sum, too.
    """

    def values(self, value: Tensor, carried: Carried, depth: int) -> tuple[Tensor, Carried]:
        mixed, first = super().values(value, carried, depth)
        return mixed, first if carried else (value, value)

    def scores(self, raw: Tensor, carried: Carried, depth: int) -> tuple[Tensor, Carried]:
        values, sums = carried[:-1], carried[-1:]
        if values and sums[0] is values[0]:
            sums = ()
        logits, sums = super().scores(raw, sums, depth)
        return logits, (*values, *sums)


class Lazy(Carry):
    """logits_l = logits_{l-1} for l = 2, 4, ..., layers whose self-attention has no queries and keys.

    Sharing attention weights (Xiao et al. 2019, 1906.11024) in groups of two, second-hand, without code. Masks are
    those of the layer below, and so are the probabilities. Encoder-decoder attention shares nothing: its whole output
    would no longer depend on the layer's input. Without the first layer, which an analysis
    may leave out, the second gives all tokens the same weight.
    """

    keeps_scores = False

    def source(self, source: ScoreSource, depth: int) -> ScoreSource:
        return source if depth % 2 else NoScores(source.heads, source.head_width, source.length)

    def memory_carry(self) -> Carry:
        return Carry()

    def scores(self, raw: Tensor, carried: Carried, depth: int) -> tuple[Tensor, Carried]:
        return (raw, (raw,)) if depth % 2 or not carried else (carried[0], carried)


class MeanAndLazy(Lazy, RunningMean):
    """The running mean of the scores of layers 1, 3, ..., each for the layer above, too."""

    def memory_carry(self) -> Carry:
        return RunningMean()

    def scores(self, raw: Tensor, carried: Carried, depth: int) -> tuple[Tensor, Carried]:
        layers = (depth + 1) // 2  # that have scores
        scored = depth % 2 or not carried
        return RunningMean.scores(self, raw, carried, layers) if scored else (carried[0] / layers, carried)

    def depth_without(self, depth: int, layer: int) -> int:
        return depth - 2 if layer % 2 and depth > 2 else depth  # layer 2 without layer 1 stays one with no scores


class DepthPairs(Carry):
    """softmax over q_t . k_s of this layer's positions s and q_t . k_t^i of the layers i < l, of [v_s; v_t^i].

    Mixture-of-depths attention (Zhu et al. 2026, 2603.15619), checked against hustvl/MoDA (36a225f). k^i and v^i are
    layer i's own, and one query serves both parts. Nothing is kept over time: a position sees its own pairs only.
    Both are of decoders or encoders alone; encoder-decoder attention, whose keys are at other positions, stays plain.
    """

    keeps_scores = False
    needs_keys = True

    def memory_carry(self) -> Carry:
        return Carry()

    def pair(self, pair: Pair, carried: Carried, _depth: int) -> tuple[Pair, Carried]:
        return pair, (*carried, *pair)

    def below(self, carried: Carried) -> Sequence[Pair]:
        return [carried[start : start + 2] for start in range(0, len(carried) - 2, 2)]


class DepthAndFeedForwardPairs(DepthPairs):
    """The pairs of attention and of feed-forward blocks, whose keys and values are a linear map of their input.

    The default of the paper's models; from the paper, as its code has no such pairs yet.
    """

    def feed_forward_pair(self, width: int, heads: int) -> FeedForwardPair:
        return FeedForwardPair(width, heads)


CARRIES: dict[str, Carry] = {
    "none": Carry(),
    "sum": RunningSum(),
    "mean": RunningMean(),
    "first_values": FirstValues(),
    "mean+first_values": MeanAndFirstValues(),
    "lazy": Lazy(),
    "mean+lazy": MeanAndLazy(),
    "moda": DepthPairs(),
    "moda+feed_forward": DepthAndFeedForwardPairs(),
}
