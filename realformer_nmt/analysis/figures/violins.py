"""Violin plots of every head, layer over layer, as in He et al. (2021), figures 6 to 10.

Heads are ordered by their medians; the colour is the band of the median. The paper names no unit. Its highest band, a
Jensen-Shannon divergence above 0.75, does not exist in nats, where ln 2 is the largest: so both are in bits here.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from realformer_nmt.analysis.measures.histogram import Distribution
from realformer_nmt.common.terminal import printable
from realformer_nmt.figures.drawing import FAINT, INK, Axes, Drawing, styled

LOW, MIDDLE, HIGH = "#2369e7", "#d97a05", "#c8282a"  # blue, yellow, red; legible on light and dark
ROW, HEAD, LEAST, EDGE = 0.5, 0.19, 1.5, 0.62  # inches: a layer's height, a violin's and a model's width, the labels
TEXT = 4.6  # inches, for title and legend
POINTS = 64  # of an outline


class Bands(NamedTuple):
    """Bounds of a median's colours: blue below, red above, yellow between."""

    low: float
    high: float

    def colour(self, median: float) -> str:
        if median < self.low:
            return LOW
        return HIGH if median > self.high else MIDDLE


ENTROPY, DIVERGENCE = Bands(1.5, 4.5), Bands(0.25, 0.75)


@styled()
def draw(title: str, bands: Bands, models: Mapping[str, Sequence[Distribution]]) -> Drawing:
    """Draw a column per model and a row per layer, the first at the bottom."""
    layers = max(map(len, models.values()))
    heads = max(len(rows[0].counts) for rows in models.values())
    width = max(TEXT, EDGE + len(models) * max(LEAST, heads * HEAD))
    height = layers * ROW + 2 * EDGE
    margins = {"left": EDGE / width, "right": 0.99, "bottom": EDGE / height, "top": 1 - EDGE / height}
    drawing = Drawing(title, width, height, {**margins, "hspace": 0.12, "wspace": 0.08})
    panels = drawing.figure.subplots(layers, len(models), sharex=True, sharey=True, squeeze=False)
    top = max(float(row.quantile(0.99).max()) for rows in models.values() for row in rows)
    for column, (name, rows) in enumerate(models.items()):
        panels[0][column].set_title(printable(name), fontsize=8)
        for layer in range(1, layers + 1):
            axes = panels[layers - layer][column]
            axes.set_xticks([])
            if layer > len(rows):
                axes.set_axis_off()
                continue
            draw_layer(drawing, axes, rows[layer - 1], bands, f"{name}, layer {layer}")
            axes.set_ylim(0, top)
            axes.tick_params(labelsize=6.5)
            if column == 0:
                axes.set_ylabel(str(layer), rotation="horizontal", ha="right", va="center")
    drawing.figure.suptitle(printable(title), fontsize=9.5, x=0.02, ha="left")
    legend = f"colour: median, blue below {bands.low:g}, red above {bands.high:g}; a row a layer, the first below"
    drawing.figure.text(0.02, 0.15 / height, legend, fontsize=7, color=INK, alpha=1 - FAINT / 2)
    return drawing


def draw_layer(drawing: Drawing, axes: Axes, heads: Distribution, bands: Bands, name: str) -> None:
    outlines, medians = heads.outline(POINTS).numpy(), heads.quantile(0.5).tolist()
    centres = (np.arange(POINTS) + 0.5) * heads.top / POINTS
    for column, head in enumerate(np.argsort(medians, kind="stable")):
        half, drawn = 0.42 * outlines[head], outlines[head] > 0
        colour = bands.colour(medians[head])
        violin = axes.fill_betweenx(
            centres[drawn], column - half[drawn], column + half[drawn], color=colour, linewidth=0.6
        )
        drawing.mark(violin, "violin", f"{name}, head {head + 1}: median {medians[head]:.2f}")
    axes.plot(range(len(medians)), sorted(medians), "_", color=INK, markersize=4)
