"""Matrices as pictures, white for 0 and dark for 1."""

import math
from collections.abc import Mapping, Sequence

from realformer_nmt.analysis.sentence import SentenceAttention
from realformer_nmt.common.terminal import printable
from realformer_nmt.figures.drawing import Axes, Drawing, styled

COLUMNS, SIZE, EDGE = 4, 1.5, 0.55  # inches: a picture, and the margin around all of them
WORD, LETTER, LEAST = 0.13, 0.06, 0.9  # inches: a row or column of attention, a letter, a picture's least side
MOST = 40  # inches of all pictures side by side: 8,000 pixels of a PNG


@styled()
def draw(title: str, pictures: Mapping[str, Sequence[Sequence[float]]]) -> Drawing:
    """Draw matrices of layers x layers, with the first layer on the left and at the bottom."""
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
        drawing.mark(axes, "matrix", name)  # an image has no group of its own
    drawing.figure.colorbar(image, ax=list(grid.flat), shrink=0.6)
    drawing.figure.suptitle(printable(title), fontsize=9.5, x=0.02, ha="left")
    return drawing


@styled()
def heads(title: str, attended: SentenceAttention) -> Drawing:
    """Draw a picture for every head: columns are heads, rows are layers from the bottom, words at the edges."""
    layers, number = len(attended.layers), len(attended.layers[0])
    tall = min(MOST / layers, max(LEAST, WORD * len(attended.queries)))
    wide = min(MOST / number, max(LEAST, WORD * len(attended.keys)))
    label_width = LETTER * max(map(len, attended.queries)) + EDGE
    label_height = LETTER * max(map(len, attended.keys)) + EDGE
    width, height = label_width + number * (wide + 0.12), label_height + layers * (tall + 0.22) + EDGE
    margins = {"left": label_width / width, "right": 0.99, "bottom": label_height / height, "top": 1 - EDGE / height}
    drawing = Drawing(title, width, height, {**margins, "hspace": 0.22 / tall, "wspace": 0.12 / wide})
    grid = drawing.figure.subplots(layers, number, squeeze=False)
    for layer, matrices in enumerate(attended.layers, 1):
        for head, matrix in enumerate(matrices, 1):
            axes = grid[layers - layer][head - 1]
            axes.set_title(f"layer {layer}, head {head}", fontsize=6, pad=2)
            axes.imshow(matrix.numpy(), cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
            drawing.mark(axes, "head", f"layer {layer}, head {head}")
            label(axes, attended, rows=head == 1, columns=layer == 1, size=(tall, wide))
    drawing.figure.suptitle(printable(title), fontsize=9.5, x=0.1 / width, ha="left")
    return drawing


def label(axes: Axes, attended: SentenceAttention, rows: bool, columns: bool, size: tuple[float, float]) -> None:
    """Label rows and columns, in letters as large as there is room for."""
    axes.grid(visible=False)
    axes.tick_params(length=0)
    tall, wide = (min(6.0, 60 * side / len(words)) for side, words in zip(size, attended[:2], strict=True))
    axes.tick_params(axis="y", labelsize=tall)
    axes.set_yticks(range(len(attended.queries)) if rows else [], list(map(printable, attended.queries)) * rows)
    axes.set_xticks(range(len(attended.keys)) if columns else [], list(map(printable, attended.keys)) * columns)
    axes.tick_params(axis="x", rotation=90, labelsize=wide)
