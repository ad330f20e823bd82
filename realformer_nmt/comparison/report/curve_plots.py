"""Loss curves of all cells at a place in one plot: which learn, which are stuck, and how fast."""

import math
from collections.abc import Sequence
from itertools import groupby

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.comparison.records.cell_record import MODEL_FAILED
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.report.formatting import (
    by_size,
    failure_text,
    families,
    finite,
    placed,
    printable,
)
from realformer_nmt.comparison.report.side_labels import Label, beside
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow, Results, place
from realformer_nmt.figures.drawing import INK, Axes, Drawing, looks, styled

WIDTH, HEIGHT = 4.3, 2.7  # inches; a page scales them
SIGNS = 4  # of a family, on each of its curves
UNIGRAMS = "unigrams"
Curve = tuple[list[int], list[Number]]  # updates, bits


def training(results: Results) -> list[Drawing]:
    """Draw a plot per place, all to one scale, with the unigram entropy, the loss of a model that knows only counts."""
    return small_multiples(results, {cell.name: loss_curve(cell.curves.train) for cell in results.cells}, "training")


def validation(results: Results) -> list[Drawing]:
    return small_multiples(results, {cell.name: loss_curve(cell.curves.valid) for cell in results.cells}, "validation")


@styled()
def small_multiples(results: Results, curves: dict[str, Curve], title: str) -> list[Drawing]:
    drawn = [cell for cell in by_size(results.cells) if any(map(math.isfinite, curves[cell.name][1]))]
    texts = [UNIGRAMS, *(curve_label(row) for row in results.rows)]
    limits = scale(drawn, curves)
    return [draw(results, list(cells), curves, title, texts, limits) for _, cells in groupby(drawn, key=place)]


def draw(
    results: Results,
    cells: Sequence[CellResult],
    curves: dict[str, Curve],
    title: str,
    texts: Sequence[str],
    limits: tuple[float, float],
) -> Drawing:
    drawing = Drawing(f"{title} loss, {placed(cells[0])}", WIDTH, HEIGHT, {})
    axes: Axes = drawing.figure.subplots()
    axes.set(xlabel="update", ylabel="bits a target token", ylim=limits)
    axes.set_title(printable(placed(cells[0])), fontsize=9.5, loc="left")
    for cell in cells:
        draw_curve(drawing, axes, results, cell, curves[cell.name])
    axes.set_xlim(0, max(curves[cell.name][0][-1] for cell in cells))
    names = [*family_labels(results, cells, curves), *unigrams(drawing, axes, cells)]
    beside(drawing, axes, names, texts)
    return drawing


def draw_curve(drawing: Drawing, axes: Axes, results: Results, cell: CellResult, curve: Curve) -> None:
    """Draw the curve of a cell, a thick one if the cell failed."""
    order = families(results)
    look, failed = looks(order)[cell.family], cell.state in MODEL_FAILED
    step = max(1, len(curve[0]) // SIGNS)
    (line,) = axes.plot(
        *curve,
        color=look.colour,
        marker=look.marker,
        markevery=(order.index(cell.family) * step // len(order), step),
        markersize=3.5,
        linewidth=2.2 if failed else 1.1,
    )
    update, bits = end(curve)
    drawing.mark(line, "learning", f"{cell.name}: {cell.state}, {bits:.2f} bits at update {update:.0f}")


def family_labels(results: Results, cells: Sequence[CellResult], curves: dict[str, Curve]) -> list[Label]:
    """Return a label per family, at the mean height of the ends of its curves."""
    labels = []
    for row in results.rows:
        ends = [end(curves[cell.name]) for cell in cells if cell.family == row.family]
        if place(row) == place(cells[0]) and ends:
            height = sum(bits for _, bits in ends) / len(ends)
            look = looks(families(results))[row.family]
            labels.append(Label(max(update for update, _ in ends), height, curve_label(row), look))
    return labels


def unigrams(drawing: Drawing, axes: Axes, cells: Sequence[CellResult]) -> list[Label]:
    labels = []
    for entropy in sorted({cell.unigram_entropy for cell in cells if cell.unigram_entropy is not None}):
        line = axes.axhline(entropy, color=INK, linewidth=1.0, linestyle="--", zorder=1)
        drawing.mark(line, "unigrams", f"{UNIGRAMS}: {entropy:.2f} bits")
        labels.append(Label(axes.get_xlim()[1], entropy, UNIGRAMS))
    return labels


def curve_label(row: ResultRow) -> str:
    return f"{row.family} {failure_text(row)}".strip()


def scale(cells: Sequence[CellResult], curves: dict[str, Curve]) -> tuple[float, float]:
    """Return limits that show all losses, up to twice the unigram entropy: a loss that diverges would flatten the
    other curves."""
    bits = [value for cell in cells for value in curves[cell.name][1] if math.isfinite(value)]
    entropies = [cell.unigram_entropy for cell in cells if cell.unigram_entropy is not None]
    if not bits:
        return 0.0, 1.0
    top = min(max([*bits, *entropies]), 2 * max(entropies, default=math.inf))
    low = min([top, *bits])
    return max(0.0, low - 0.05 * (top - low)), top + 0.05 * (top - low) + 1e-6


def end(curve: Curve) -> tuple[float, float]:
    """Return the last point that is a number."""
    points = list(zip(*curve, strict=True))
    return next((update, bits) for update, bits in reversed(points) if math.isfinite(bits))


def loss_curve(points: Sequence[CurvePoint]) -> Curve:
    return [point.update for point in points], [finite(point.nll_loss) for point in points]
