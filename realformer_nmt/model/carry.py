"""What attention hands from layer to layer: residual attention.

What is carried is a tuple of tensors that only the carry looks into; the first layer gets an empty one. Values are
asked first, where they are projected: for encoder-decoder attention in beam search that is at the first step alone.
"""

from torch import Tensor

Carried = tuple[Tensor, ...]


class Carry:
    """Nothing: logits_l = scores_l."""

    keeps_scores = True  # so that torch's own kernel, which shows none, may compute them

    def values(self, own: Tensor, carried: Carried, _depth: int) -> tuple[Tensor, Carried]:
        """Of this layer, B x H x S x D; depth counts from 1. What attention mixes, and what goes on."""
        return own, carried

    def scores(self, raw: Tensor, carried: Carried, _depth: int) -> tuple[Tensor, Carried]:
        """Of this layer, never masked, B or 1 x H x T x S. The logits, and what goes on."""
        return raw, carried

    def divisor(self, _depth: int) -> int | None:
        """Logits are the sum of all scores so far divided by this; of None those of the layer alone. A class that
        does not say it itself decodes without our kernel."""
        return None


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


CARRIES: dict[str, Carry] = {"none": Carry(), "sum": RunningSum(), "mean": RunningMean()}
