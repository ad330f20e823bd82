"""Norm of the stream after each layer, and the share of it that each branch adds."""

import torch
from torch import Tensor, nn

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.analysis_record import ShortcutTerms, StreamFigures
from realformer_nmt.analysis.text import Text, device_of


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


def shortcut_terms(weight: Tensor, shortcut: Moments, branch: Moments) -> ShortcutTerms:
    """Return the figures of w * x + f(x), from the moments of both terms over all elements."""
    return ShortcutTerms(
        w=float(weight.mean()),
        share_of_branch=branch.variance / (shortcut.variance + branch.variance),
        effective_w=(shortcut.variance / branch.variance) ** 0.5 if branch.variance else None,
    )


@torch.no_grad()
def measure(model: nn.Module, text: Text) -> dict[str, StreamFigures]:
    """Return the figures by side."""
    sublayers = {side: hooks.shortcuts(stack) for side, stack in hooks.stacks(model).items()}
    norms: dict[str, list[list[Moments]]] = {side: [] for side in sublayers}
    terms = {key: (Moments(), Moments()) for shortcuts in sublayers.values() for key in shortcuts.values()}
    masks: dict[str, Tensor] = {}  # by side, False at padding

    def see(side: str, layer: int, stream: tuple[Tensor, ...]) -> None:
        if layer == len(norms[side]):
            norms[side].append([Moments() for _ in stream])
        for moments, tensor in zip(norms[side][layer], stream, strict=True):
            moments.add(tensor[masks[side]])

    def see_terms(side: str, shortcut: hooks.Shortcut, x: Tensor, branch: Tensor) -> None:
        shortcut_moments, branch_moments = terms[shortcut]
        shortcut_moments.add((shortcut.weight().to(x) * x)[masks[side]])
        branch_moments.add(shortcut.added(x, branch)[masks[side]])

    with hooks.streams(model, see), hooks.terms(model, see_terms):
        for batch in text.batches(device_of(model)):
            masks |= {side: tokens.ne(text.pad) for side, tokens in batch.read.items()}
            model(**batch.inputs, features_only=True)
    return {
        side: StreamFigures(
            norm=[[(moments.squares / moments.count) ** 0.5 for moments in layer] for layer in norms[side]],
            sublayers={
                name: shortcut_terms(each.weight(), *terms[each])
                for name, each in sublayers[side].items()
                if terms[each][0].count  # a topology may have no use for it
            },
        )
        for side in sublayers
    }
