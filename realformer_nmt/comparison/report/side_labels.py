"""Labels in a column beside a plot: each near the height of its point, none over another."""

from collections.abc import Sequence
from typing import NamedTuple

from realformer_nmt.comparison.report.formatting import printable
from realformer_nmt.figures.drawing import FAINT, INK, Axes, Drawing, FigureCanvasAgg, Line2D, Look

SIZE = 8.0  # points
LINE = 0.155  # inches from one name to the next
LEFT, BOTTOM, TOP = 0.6, 0.45, 0.28  # inches around the axes
KEY, GAP = 0.1, 0.2  # from the axes to a family's mark, and to its name
NARROWEST = 2.1  # of the axes


class Label(NamedTuple):
    x: float
    y: float
    text: str
    look: Look | None = None  # of a family


def room(drawing: Drawing, texts: Sequence[str], lines: int) -> None:
    """Set the margins for the widest text and the number of lines; the figure grows where it is too small."""
    width, height = drawing.figure.get_size_inches()
    FigureCanvasAgg(drawing.figure)  # which measures the texts
    extents = [drawing.figure.text(0, 0, printable(text), fontsize=SIZE) for text in texts]
    column = GAP + max((text.get_window_extent().width for text in extents), default=0) / drawing.figure.dpi
    for text in extents:
        text.remove()
    width, height = max(width, LEFT + NARROWEST + column), max(height, lines * LINE + BOTTOM + TOP)
    drawing.figure.set_size_inches(width, height)
    drawing.figure.subplots_adjust(
        left=LEFT / width, right=1 - column / width, bottom=BOTTOM / height, top=1 - TOP / height
    )


def beside(drawing: Drawing, axes: Axes, labels: Sequence[Label], texts: Sequence[str] = ()) -> None:
    """Write the labels, with a line from each point to its label, once all else is drawn; leave room for the texts that
    another plot of the same size may have."""
    room(drawing, [*texts, *(label.text for label in labels)], len(labels))
    axes.autoscale_view()
    width, height = drawing.figure.get_size_inches() * axes.get_position().size
    points = axes.transAxes.inverted().transform(axes.transData.transform([label[:2] for label in labels])).clip(0, 1)
    heights = spread_out([y for _, y in points], LINE / height)
    for label, (x, y), label_y in zip(labels, points, heights, strict=True):
        colour, key = label.look.colour if label.look else INK, 1 + KEY / width
        axes.text(1 + GAP / width, label_y, printable(label.text), va="center", fontsize=SIZE, transform=axes.transAxes)
        draw(axes, Line2D([x, key], [y, label_y], color=colour, alpha=FAINT, linewidth=0.7))
        if label.look:
            draw(axes, Line2D([key], [label_y], color=colour, marker=label.look.marker, markersize=4.5))


def draw(axes: Axes, line: Line2D) -> None:
    """Draw a line that may leave the axes and does not change their limits."""
    line.set(transform=axes.transAxes, clip_on=False)
    axes.add_artist(line)


def spread_out(targets: Sequence[float], gap: float) -> list[float]:
    """Return heights near the targets, in the same order, at least the gap apart, none above 1."""
    order = sorted(range(len(targets)), key=targets.__getitem__)
    heights = [0.0] * len(targets)
    lowest = float("-inf")
    for n in order:
        heights[n] = lowest = max(targets[n], lowest + gap)
    highest = 1.0 + gap
    for n in reversed(order):
        heights[n] = highest = min(heights[n], highest - gap)
    return heights
