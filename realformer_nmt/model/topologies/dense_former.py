"""DenseFormer: after each layer a trained sum of the outputs of all layers so far."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.topologies.layer_history import weighted_sum, with_output
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Place, PreLN, Stack, Stream


class DenseFormer(PreLN):
    """x_{l+1} = sum_k a[l, k] y_k over Pre-LN layers, y_0 the embedding, y_l what layer l makes of x_l.

    DenseFormer (Pagliardini et al. 2024, 2402.02622) with dilation 1 and period 1, checked against epfml/DenseFormer.
    a[l, l] starts at 1 and the others at 0, so the first update is that of Pre-LN. The stream is the current x, then
    y_0, y_1 ...
    """

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.weights = nn.Parameter(torch.eye(stack.layers + 1)[1:])  # a row per layer

    def enter(self, x: Tensor) -> Stream:
        return x, x

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, _norm: nn.Module, place: Place) -> Stream:
        x, *outputs = stream
        y = shortcut(x, branch)
        if not place.last:
            return y, *outputs
        outputs = with_output(outputs, y, place.depth)
        return weighted_sum(self.weights[place.depth - 1], outputs), *outputs
