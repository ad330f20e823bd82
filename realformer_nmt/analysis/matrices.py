"""Matrices as pictures, white for 0 and dark for 1."""

import math
from collections.abc import Mapping, Sequence

from realformer_nmt.common.terminal import printable
from realformer_nmt.figures.drawing import Drawing, styled

COLUMNS, SIZE, EDGE = 4, 1.5, 0.55  # inches: a picture, and what stands around all of them
Matrix = Sequence[Sequence[float]]


@styled()
def draw(title: str, pictures: Mapping[str, Matrix]) -> Drawing:
    """Of layers and layers: the first is on the left and at the bottom."""
    columns = min(COLUMNS, len(pictures))
    rows = math.ceil(len(pictures) / columns)
    drawing = Drawing(title, 2 * EDGE + columns * SIZE, 2 * EDGE + rows * SIZE)
    grid = drawing.figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(pictures) :]:
        axes.set_axis_off()
    for axes, (name, matrix) in zip(grid.flat, pictures.items(), strict=False):
        axes.set_title(printable(name), fontsize=7.5)
        axes.grid(visible=False)
        axes.tick_params(labelsize=6.5)
        image = axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1, origin="lower", interpolation="nearest")
        drawing.mark(image, "matrix", name)
    drawing.figure.colorbar(image, ax=list(grid.flat), shrink=0.6)
    drawing.figure.suptitle(printable(title), fontsize=9.5, x=0.02, ha="left")
    return drawing
