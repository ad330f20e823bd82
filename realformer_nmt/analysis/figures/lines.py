"""Line plots by layer: a panel per kind, one or two lines per model."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from realformer_nmt.common.terminal import printable
from realformer_nmt.figures.drawing import Axes, Drawing, Look, MaxNLocator, looks, plain, styled

COLUMNS, WIDTH, HEIGHT, HEAD, EDGE = 3, 2.4, 1.9, 0.3, 0.75  # inches: a panel's sizes, the title's, the left labels'
FEWEST = 2  # panels in a row, so that the title has room


class Line(NamedTuple):
    name: str  # of the model, which has one colour
    values: Sequence[float]  # by layer
    first: int = 1  # number of the first layer
    note: str = ""  # distinguishes a model's second line, which is dashed


@styled()
def draw(title: str, panels: Mapping[str, Sequence[Line]], logarithmic: bool = False) -> Drawing:
    columns = max(FEWEST, min(COLUMNS, len(panels)))
    rows = math.ceil(len(panels) / columns)
    drawing = Drawing(title, EDGE + columns * WIDTH, rows * HEIGHT + HEAD)
    grid = drawing.figure.subplots(rows, columns, squeeze=False)
    names = list(dict.fromkeys(line.name for panel in panels.values() for line in panel))
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (kind, panel) in zip(grid.flat, panels.items(), strict=False):
        axes.set_title(printable(kind), fontsize=8.5, loc="left")
        for line in panel:
            draw_line(drawing, axes, line, looks(names)[line.name])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        if logarithmic:
            axes.set_yscale("log")
            plain(axes.yaxis)
        else:
            axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    drawing.figure.supxlabel(printable(f"{title}, by layer"), fontsize=9)  # the legend is above
    drawing.legend(*grid.flat)
    return drawing


def draw_line(drawing: Drawing, axes: Axes, line: Line, look: Look) -> None:
    layers = range(line.first, line.first + len(line.values))
    label = " ".join(filter(None, (line.name, line.note)))
    (artist,) = axes.plot(
        layers,
        line.values,
        color=look.colour,
        marker=look.marker,
        markersize=3.5,
        linewidth=1.1,
        linestyle="--" if line.note else "-",
        label=printable(label),
    )
    listing = ", ".join(f"{value:.3g}" for value in line.values)
    drawing.mark(artist, "line", f"{axes.get_title(loc='left')}, {label}: {listing}")
