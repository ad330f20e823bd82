"""Figures of the records of depth.py; a line of the model before training is dashed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from realformer_nmt.analysis import lines, matrices
from realformer_nmt.analysis.hooks import SIDES
from realformer_nmt.analysis.lines import Line
from realformer_nmt.figures.drawing import Drawing

STATES = {"checkpoint": "", "start": "at the start"}
Record = Mapping[str, Any]  # of depth.study
Panels = dict[str, list[Line]]


def drawings(models: Mapping[str, Record]) -> dict[str, Drawing]:
    return {
        "gradients": lines.draw("norm of the gradient of a layer's parameters", both(models, gradient), True),
        "stream": lines.draw("root mean square of the stream", streams(models), True),
        "branches": lines.draw("branch's share of the variance", sublayers(models, "share_of_branch")),
        "effective_w": lines.draw("effective weight of the shortcut", sublayers(models, "effective_w")),
        "disturbance": lines.draw("how far disturbed weights move the output", both(models, disturbance), True),
        "cosine": lines.draw("cosine with the layer below", both(models, cosine)),
        "effective_rank": lines.draw("effective rank", both(models, rank, first=0)),
        "cka": matrices.draw("CKA between layers", dict(similarities(models))),
        "left_out": lines.draw("loss without the layer, more bits a word", left_out(models)),
    }


def by_side(models: Mapping[str, Record]) -> Iterator[tuple[str, dict[str, Record]]]:
    """Yield each side with the records of the models that have it."""
    for side in SIDES:
        records = {name: record for name, record in models.items() if side in record["left_out"]}
        if records:
            yield side, records


def gradient(state: Record, side: str) -> list[float]:
    return state["gradients"][side]["norm"]


def disturbance(state: Record, side: str) -> list[float]:
    return state["disturbance"][side]


def cosine(state: Record, side: str) -> list[float]:
    return state["likeness"][side]["cosine"]


def rank(state: Record, side: str) -> list[float]:
    return state["likeness"][side]["effective_rank"]


def both(models: Mapping[str, Record], values: Callable[[Record, str], list[float]], first: int = 1) -> Panels:
    """Return a panel per side, with lines for the trained and the untrained model."""
    return {
        side: [
            Line(name, values(record[state], side), first, note)
            for name, record in records.items()
            for state, note in STATES.items()
        ]
        for side, records in by_side(models)
    }


def streams(models: Mapping[str, Record]) -> Panels:
    """Return a panel per side, with a line for each tensor of the stream, which may have several."""
    panels: Panels = {}
    for side, records in by_side(models):
        for name, record in records.items():
            tensors = list(zip(*record["checkpoint"]["stream"][side]["norm"], strict=True))
            for number, values in enumerate(tensors, 1):
                line = Line(name, values, 0, f"(tensor {number})" if number > 1 else "")
                panels.setdefault(side, []).append(line)
    return panels


def sublayers(models: Mapping[str, Record], figure: str) -> Panels:
    """Return a panel per side and kind of sub-layer."""
    panels: Panels = {}
    for name, record in models.items():
        for side, stream in record["checkpoint"]["stream"].items():
            kinds: dict[str, list[float]] = {}
            for sublayer, terms in stream["sublayers"].items():
                kinds.setdefault(sublayer.rpartition(".")[2], []).append(lines.number(terms[figure]))
            for kind, values in kinds.items():
                panels.setdefault(f"{side} {kind}", []).append(Line(name, values))
    return panels


def left_out(models: Mapping[str, Record]) -> Panels:
    return {
        side: [Line(name, record["left_out"][side]) for name, record in records.items()]
        for side, records in by_side(models)
    }


def similarities(models: Mapping[str, Record]) -> Iterator[tuple[str, list[list[float]]]]:
    for name, record in models.items():
        for side, likeness in record["checkpoint"]["likeness"].items():
            yield f"{name}, {side}", likeness["cka"]
