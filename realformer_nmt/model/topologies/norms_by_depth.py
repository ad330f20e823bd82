"""Topologies whose norms are not the same in every layer."""

import math

from torch import Tensor, nn

from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, PreLN, Stream


class MixLN(PreLN):
    """Post-LN in the first quarter of the layers, at least in one, and Pre-LN in the rest: Li et al. 2024 (2412.13795).

    Checked against pixeli99/MixLN (ff45826), where the number of Post-LN layers is a setting, 3 of 12 in its example.
    """

    def is_post(self, place: Place) -> bool:
        return place.depth <= max(1, self.stack.layers // 4)

    def read(self, stream: Stream, norm: nn.Module, place: Place) -> Tensor:
        return stream[0] if self.is_post(place) else super().read(stream, norm, place)

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        x = shortcut(stream[0], branch)
        return (norm(x),) if self.is_post(place) else (x,)


class LayerNormScaling(PreLN):
    """x = shortcut(x, f(LN(x) / sqrt(l))) in layer l, and LN(x) after the last layer: Sun et al. 2025 (2502.05795).

    As in lmsdss/LayerNorm-Scaling (3ac54dd) the factor is a constant, which that code never reaches, as it looks for an
    upper-case name among lower-case ones; in dandingsky/GPAS a trained gain starts at it. The authors advise against
    initial weights that shrink with depth beside it.
    """

    def read(self, stream: Stream, norm: nn.Module, place: Place) -> Tensor:
        return super().read(stream, norm, place) / math.sqrt(place.depth)
