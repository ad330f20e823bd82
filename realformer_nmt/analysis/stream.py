"""Norm of the stream after each layer, and the share of it that each branch adds."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.text import Text, to


class Moments:
    """Mean and variance of any number of values."""

    def __init__(self) -> None:
        self.count, self.sum, self.squares = 0, 0.0, 0.0

    def add(self, values: Tensor) -> None:
        values = values.double()
        self.count += values.numel()
        self.sum += float(values.sum())
        self.squares += float(values.square().sum())

    @property
    def mean(self) -> float:
        return self.sum / self.count

    @property
    def variance(self) -> float:
        return self.squares / self.count - self.mean**2


class SublayerTerms(NamedTuple):
    """w * x + f(x): moments of both terms over all elements."""

    weight: float  # the mean of w
    shortcut: Moments
    branch: Moments

    def record(self) -> dict[str, float | None]:
        """Return w, Var f / (Var wx + Var f), and the effective w, sqrt(Var wx / Var f).

        The effective w is what w would be if stream and branch were of the same size. ADMIN (Liu et al. 2020) takes its
        profile from these variances.
        """
        shortcut, branch = self.shortcut.variance, self.branch.variance
        return {
            "w": self.weight,
            "share_of_branch": branch / (shortcut + branch),
            "effective_w": (shortcut / branch) ** 0.5 if branch else None,
        }


@torch.no_grad()
def measure(model: nn.Module, text: Text) -> dict[str, Any]:
    """Return the figures by side.

    `norm` is by layer, from 0, the input of the first: the root mean square of each tensor of the stream. `sublayers`
    is by the sub-layer's name.
    """
    sublayers = {side: hooks.shortcuts(stack) for side, stack in hooks.stacks(model).items()}
    norms: dict[str, list[list[Moments]]] = {side: [] for side in sublayers}
    terms = {key: (Moments(), Moments()) for shortcuts in sublayers.values() for key in shortcuts.values()}
    device = next(model.parameters()).device
    masks: dict[str, Tensor] = {}  # by side, False at padding

    def see(side: str, layer: int, stream: tuple[Tensor, ...]) -> None:
        if layer == len(norms[side]):
            norms[side].append([Moments() for _ in stream])
        for moments, tensor in zip(norms[side][layer], stream, strict=True):
            moments.add(tensor[masks[side]])

    def see_terms(side: str, shortcut: hooks.Shortcut, x: Tensor, branch: Tensor) -> None:
        shortcut_moments, branch_moments = terms[shortcut]
        shortcut_moments.add((shortcut.weight().to(x) * x)[masks[side]])
        branch_moments.add(branch[masks[side]])

    with hooks.streams(model, see), hooks.terms(model, see_terms):
        for batch in text.batches():
            batch = to(batch, device)
            masks |= {side: tokens.ne(text.pad) for side, tokens in batch.read.items()}
            model(**batch.inputs, features_only=True)
    return {
        side: {
            "norm": [[(moments.squares / moments.count) ** 0.5 for moments in layer] for layer in norms[side]],
            "sublayers": {
                name: SublayerTerms(float(shortcut.weight().mean()), *terms[shortcut]).record()
                for name, shortcut in sublayers[side].items()
            },
        }
        for side in sublayers
    }
