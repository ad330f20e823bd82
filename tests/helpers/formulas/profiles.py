"""ADMIN's profile by stock fairseq's layers, and the weights that a model took from its own."""

from collections.abc import Iterable

import numpy as np
from torch import Tensor, nn

from realformer_nmt.model.models.admin_profile import shortcuts


class Profiling:
    """A stack of stock fairseq's, joined as the authors do: w x + f(x); sqrt(var(w x) + var(f(x))) is the next w."""

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        self.weights = [1.0]
        for layer in layers:
            layer.residual_connection = self.join

    def join(self, branch: Tensor, x: Tensor) -> Tensor:
        w = self.weights[-1]
        self.weights.append(np.sqrt(np.var((w * x).detach().numpy()) + np.var(branch.detach().numpy())))
        return w * x + branch


def weights_of(stack: nn.Module) -> list[float]:
    return [float(shortcut.weight().mean()) for _, shortcut in shortcuts(stack)]
