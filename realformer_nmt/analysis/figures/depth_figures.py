"""Figures of the records of depth.py; a line of the model before training is dashed."""

import math
from collections.abc import Callable, Iterator, Mapping

from realformer_nmt.analysis.analysis_record import DepthFigures, LayerFigures, ShortcutTerms
from realformer_nmt.analysis.figures import lines, matrices
from realformer_nmt.analysis.figures.lines import Line
from realformer_nmt.analysis.hooks import SIDES
from realformer_nmt.figures.drawing import Drawing

Panels = dict[str, list[Line]]
Values = Callable[[LayerFigures, str], list[float]]  # of a side, by layer


def drawings(models: Mapping[str, DepthFigures]) -> dict[str, Drawing]:
    gradients = both(models, lambda state, side: state.gradients[side].norm)
    disturbances = both(models, lambda state, side: state.disturbance[side])
    cosines = both(models, lambda state, side: state.likeness[side].cosine)
    ranks = both(models, lambda state, side: state.likeness[side].effective_rank, first=0)
    branches = sublayers(models, lambda terms: terms.share_of_branch)
    weights = sublayers(models, lambda terms: terms.effective_w)
    similarities = {
        f"{name}, {side}": likeness.cka
        for name, model in models.items()
        for side, likeness in model.checkpoint.likeness.items()
    }
    shortcuts = {
        "branches": ("branch's share of the variance", branches),
        "effective_w": ("effective weight of the shortcut", weights),
    }
    left_out = {
        side: [Line(name, model.left_out[side]) for name, model in figures.items()] for side, figures in by_side(models)
    }
    return {
        "gradients": lines.draw("norm of the gradient of a layer's parameters", gradients, True),
        "stream": lines.draw("root mean square of the stream", streams(models), True),
        **{name: lines.draw(title, panels) for name, (title, panels) in shortcuts.items() if panels},
        "disturbance": lines.draw("how far disturbed weights move the output", disturbances, True),
        "cosine": lines.draw("cosine with the layer below", cosines),
        "effective_rank": lines.draw("effective rank", ranks),
        "cka": matrices.draw("CKA between layers", similarities),
        "left_out": lines.draw("increase of the loss without one layer, in bits per token", left_out),
    }


def by_side(models: Mapping[str, DepthFigures]) -> Iterator[tuple[str, dict[str, DepthFigures]]]:
    """Yield each side with the figures of the models that have it."""
    for side in SIDES:
        figures = {name: model for name, model in models.items() if side in model.left_out}
        if figures:
            yield side, figures


def both(models: Mapping[str, DepthFigures], values: Values, first: int = 1) -> Panels:
    """Return a panel per side, with lines for the trained and the untrained model."""
    return {
        side: [
            Line(name, values(state, side), first, note)
            for name, model in figures.items()
            for state, note in ((model.checkpoint, ""), (model.start, "at the start"))
        ]
        for side, figures in by_side(models)
    }


def streams(models: Mapping[str, DepthFigures]) -> Panels:
    """Return a panel per side, with a line for each tensor of the stream, which may have several."""
    panels: Panels = {}
    for side, figures in by_side(models):
        for name, model in figures.items():
            tensors = list(zip(*model.checkpoint.stream[side].norm, strict=False))  # some grow by one per layer
            for number, values in enumerate(tensors, 1):
                line = Line(name, values, 0, f"(tensor {number})" if number > 1 else "")
                panels.setdefault(side, []).append(line)
    return panels


def sublayers(models: Mapping[str, DepthFigures], figure: Callable[[ShortcutTerms], float | None]) -> Panels:
    """Return a panel per side and kind of sub-layer."""
    panels: Panels = {}
    for name, model in models.items():
        for side, stream in model.checkpoint.stream.items():
            kinds: dict[str, list[float]] = {}
            for sublayer, terms in stream.sublayers.items():
                value = figure(terms)  # None, which could not be measured, is a gap in the line
                kinds.setdefault(sublayer.rpartition(".")[2], []).append(math.nan if value is None else value)
            for kind, values in kinds.items():
                panels.setdefault(f"{side} {kind}", []).append(Line(name, values))
    return panels
