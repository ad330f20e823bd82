"""Plots of one cell: its losses, its quality, its gradients, and ADMIN's w where it has one."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.report.formatting import finite
from realformer_nmt.comparison.report.side_labels import Label, beside
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.figures.drawing import COLOURS, FAINT, INK, Axes, Drawing, Look, MaxNLocator, looks, plain, styled


class CurveLook(NamedTuple):
    label: str
    look: Look
    width: float


WIDTH, HEIGHT = 3.7, 2.5  # inches; a page scales them
MARGINS = {"left": 0.15, "right": 0.97, "bottom": 0.17, "top": 0.9}  # fixed: to compute them takes as long as to draw
TRAINING = CurveLook("training", Look(COLOURS[0], ""), 1.1)
VALIDATION = CurveLook("validation", Look(COLOURS[1], "o"), 1.5)
SUBLAYER = re.compile(r"(\w+)\.layers\.(\d+)\.(\w+)")  # encoder.layers.0.self_attn


def drawings(cell: CellResult) -> list[Drawing]:
    """Return the plots of a cell, without those that would be empty."""
    plots = [draw(cell) for draw in (loss, quality, gradient, shortcuts)]
    return [drawing for drawing in plots if drawing]


@styled()
def loss(cell: CellResult) -> Drawing | None:
    drawing, axes = panel(f"loss of {cell.name}", "loss", "bits a target token")
    labels = draw(drawing, axes, cell.curves.train, "nll_loss", TRAINING)
    labels += draw(drawing, axes, cell.curves.valid, "nll_loss", VALIDATION)
    if not labels:
        return None
    if cell.unigram_entropy is not None:
        axes.axhline(cell.unigram_entropy, color=INK, alpha=FAINT, linewidth=0.9, linestyle="--")
        labels.append(Label(axes.get_xlim()[1], cell.unigram_entropy, "unigrams"))
    beside(drawing, axes, labels)
    return drawing


@styled()
def quality(cell: CellResult) -> Drawing | None:
    drawing, axes = panel(f"BLEU of {cell.name} in validation", "BLEU in validation", "BLEU")
    draw(drawing, axes, cell.curves.valid, "bleu", VALIDATION)
    axes.set_ylim(0, max(1, axes.get_ylim()[1]))  # a stuck cell has BLEU 0
    return drawing if axes.lines else None


@styled()
def gradient(cell: CellResult) -> Drawing | None:
    drawing, axes = panel(f"gradient norm of {cell.name}", "gradient norm", "norm")
    draw(drawing, axes, cell.curves.train, "gnorm", TRAINING)
    if not axes.lines:
        return None
    axes.set_yscale("log")
    plain(axes.yaxis)
    return drawing


def panel(label: str, title: str, unit: str) -> tuple[Drawing, Axes]:
    drawing = Drawing(label, WIDTH, HEIGHT, MARGINS)
    axes: Axes = drawing.figure.subplots()
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set(xlabel="update", ylabel=unit)
    return drawing, axes


def draw(drawing: Drawing, axes: Axes, points: Sequence[CurvePoint], figure: str, curve: CurveLook) -> list[Label]:
    """Draw a curve with a gap where a value is no number, and return its label; draw nothing without any number."""
    updates = [point.update for point in points]
    values = [finite(getattr(point, figure)) for point in points]
    measured = [(update, value) for update, value in zip(updates, values, strict=True) if math.isfinite(value)]
    if not measured:
        return []
    marker = "o" if len(measured) == 1 else curve.look.marker  # one point makes no line
    (line,) = axes.plot(updates, values, color=curve.look.colour, marker=marker, markersize=3.5, linewidth=curve.width)
    update, value = measured[-1]
    drawing.mark(line, "curve", f"{curve.label}: {value:.2f} at update {update}")
    return [Label(update, value, curve.label, curve.look)]


@styled()
def shortcuts(cell: CellResult) -> Drawing | None:
    """Draw ADMIN's w, the mean over the width, by layer; a line per kind of sub-layer."""
    lines: dict[str, list[tuple[int, Number]]] = {}
    for shortcut in cell.shortcuts:
        match = SUBLAYER.fullmatch(shortcut.sublayer)
        if match:
            lines.setdefault(f"{match[1]} {match[3]}", []).append((int(match[2]) + 1, finite(shortcut.mean)))
    if not lines:
        return None
    drawing, axes = panel(f"ADMIN's w in {cell.name}", "ADMIN's w by sub-layer", "mean w")
    axes.set_xlabel("layer")
    labels: list[Label] = []
    for name, look in looks(sorted(lines, reverse=True)).items():
        layers, means = zip(*sorted(lines[name]), strict=True)
        (line,) = axes.plot(layers, means, color=look.colour, marker=look.marker, markersize=3.5, linewidth=1.1)
        drawing.mark(line, "shortcut", name)
        labels.append(Label(layers[-1], means[-1], name, look))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    beside(drawing, axes, labels)
    return drawing
