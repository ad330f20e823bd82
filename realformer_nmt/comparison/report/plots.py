"""Quality against depth: the main plot of a report."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from realformer_nmt.comparison.report.formatting import (
    deep,
    depths,
    drawn_metric,
    failure_text,
    families,
    printable,
    spread,
)
from realformer_nmt.comparison.report.power import scored
from realformer_nmt.comparison.results.results_file import ResultRow, Results
from realformer_nmt.figures.drawing import FAINT, INK, Axes, Drawing, looks, styled

WIDTH = 4.7  # inches; a page scales it
STRIP = 0.19  # inches per line of failed cells
DODGE, WIDEST = 0.05, 0.7  # of a category: from one family's bars to the next, and of all families at most
SMALL = 8.0


@styled()
def by_depth(results: Results) -> Drawing:
    """Draw a line per family over the depths, as categories; the failed cells are named below."""
    label = printable(drawn_metric(results).label)
    names, failed = list(depths(results)), [row for row in results.rows if row.failed]
    per_depth = Counter(row.depth for row in failed)
    strip = STRIP * max(per_depth.values(), default=0)
    drawing = Drawing(f"{label} against depth", WIDTH, 2.8 + strip)
    axes: Axes
    if failed:
        axes, below = drawing.figure.subplots(2, 1, sharex=True, height_ratios=[2.6, strip])
        axes.tick_params(bottom=False, labelbottom=False)
        axes.spines["bottom"].set_visible(False)
        draw_failures(drawing, below, results, failed)
    else:
        axes = below = drawing.figure.subplots()
    axes.set_ylabel(label)
    below.set_xlabel(counted(results))
    below.set_xticks(range(len(names)), [printable(name) for name in names])
    below.set_xlim(-0.5, len(names) - 0.5)
    for family in families(results):
        rows = {names.index(row.depth): row for row in results.rows if row.family == family}
        draw_family(drawing, axes, results, family, rows, list(map(deep, names)))
    draw_published(drawing, axes, results)
    axes.set_ylim(bottom=max(lowest_drawn(means(results)), axes.get_ylim()[0]))
    if not means(results):
        axes.text(0.5, 0.5, "no cell has a score", transform=axes.transAxes, ha="center", alpha=FAINT)
        axes.set_yticks([])
    drawing.legend(axes)
    return drawing


def means(results: Results) -> list[float]:
    """Return the means that a plot shows, of all rows."""
    return [row.scores[results.metric].mean for row in scored(results.rows, results.metric)]


def lowest_drawn(heights: Iterable[float]) -> float:
    """Return where deviations and axes end below: at 0, unless some mean is below it."""
    return -math.inf if any(height < 0 for height in heights) else 0.0


def counted(results: Results) -> str:
    """Return the label of the numbers of layers."""
    if not all(map(all, depths(results).values())):
        return "layers"  # of a model with one side
    return "layers (encoder-decoder)" if any("-" in name for name in depths(results)) else "encoder and decoder layers"


def draw_family(
    drawing: Drawing, axes: Axes, results: Results, family: str, rows: Mapping[int, ResultRow], places: Sequence[str]
) -> None:
    """Draw the mean and deviation of each row of a family at its place; no line leads over a failure."""
    look, dodge, lowest = looks(families(results))[family], dodges(results)[family], lowest_drawn(means(results))
    metric = results.metric
    scores = {x: row.scores[metric] for x, row in sorted(rows.items()) if row.seeds and metric in row.scores}
    where = [x + dodge for x in range(len(places))]
    heights = [scores[x].mean if x in scores else math.nan for x in range(len(places))]
    (line,) = axes.plot(where, heights, color=look.colour, marker=look.marker, label=printable(family))
    texts = [f"{places[x]} {spread(score)}" for x, score in scores.items()]
    drawing.mark(line, "family", f"{family}: {'; '.join(texts) or 'no score'}")
    for x, score in scores.items():
        if score.deviation is not None:
            ends = [max(lowest, score.mean - score.deviation), score.mean + score.deviation]
            (bar,) = axes.plot([where[x]] * 2, ends, color=look.colour, marker="_", markersize=7, linewidth=1.1)
            drawing.mark(bar, "deviation", f"{family}: {spread(score)}")


def dodges(results: Results) -> dict[str, float]:
    """Return how far aside each family is drawn, so that no bar hides another or lies in the next category."""
    names = families(results)
    step = min(DODGE, WIDEST / len(names))
    return {name: (place - (len(names) - 1) / 2) * step for place, name in enumerate(names)}


def draw_failures(drawing: Drawing, axes: Axes, results: Results, failed: Sequence[ResultRow]) -> None:
    names, look = list(depths(results)), looks(families(results))
    lines: Counter[str] = Counter()  # by depth
    for row in failed:
        x, y, text = names.index(row.depth) - 0.22, lines[row.depth], f"{row.family} {failure_text(row)}"
        lines[row.depth] += 1
        (cross,) = axes.plot([x], [y], color=look[row.family].colour, marker="x", markersize=6, markeredgewidth=1.8)
        drawing.mark(cross, "failed", text)
        axes.annotate(printable(text), (x, y), (7, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.set_ylim(max(lines.values()) - 0.4, -0.6)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.set_ylabel("failed", rotation="horizontal", ha="right", va="center")
    axes.spines["left"].set_visible(False)


def draw_published(drawing: Drawing, axes: Axes, results: Results) -> None:
    """Draw the papers' figures where metric and corpus agree, at the depths of this comparison."""
    layers = list(depths(results).values())
    label: str | None = "published"
    for figure in results.published:
        size = [figure.encoder_layers, figure.decoder_layers]
        if figure.bleu is None or figure.comparable_with != results.metric or size not in layers:
            continue
        place = [layers.index(size) + 0.24]
        (mark,) = axes.plot(
            place, [figure.bleu], "D", color=INK, alpha=FAINT, markersize=4, markerfacecolor="none", label=label
        )
        drawing.mark(mark, "published", f"{figure.paper}, {figure.model}: {figure.bleu:.2f}")
        label = None  # one line in the legend
