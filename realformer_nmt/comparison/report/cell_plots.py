"""What the report draws of one cell: its losses, its quality, its gradients, and ADMIN's w where it has one."""

import re

from realformer_nmt.comparison.report.wording import Record, finite, printable
from realformer_nmt.figures.drawing import COLOURS, FAINT, INK, MARKERS, Axes, Drawing, MaxNLocator, plain, styled

WIDTH, HEIGHT = 3.7, 2.5  # inches; a page scales them
MARGINS = {"left": 0.15, "right": 0.97, "bottom": 0.17, "top": 0.9}  # said, not sought: it takes half the time
SUBLAYER = re.compile(r"(\w+)\.layers\.(\d+)\.(\w+)")  # encoder.layers.0.self_attn


def drawn(cell: Record) -> Record:
    """What the plots of a cell show."""
    return {name: cell[name] for name in ("name", "curves", "unigram_entropy", "shortcuts")}


def drawings(cell: Record) -> list[Drawing]:
    """Only what there is something to draw of."""
    return [drawing for draw in (loss, quality, gradient, shortcuts) if (drawing := draw(cell))]


@styled()
def loss(cell: Record) -> Drawing | None:
    drawing = Drawing(f"loss of {cell['name']}", WIDTH, HEIGHT, MARGINS)
    axes = panel(drawing, "loss", "bits a target token")
    draw(drawing, axes, cell, "train", "nll_loss", "training")
    draw(drawing, axes, cell, "valid", "nll_loss", "validation")
    if not axes.lines:
        return None
    if cell["unigram_entropy"] is not None:
        axes.axhline(cell["unigram_entropy"], color=INK, alpha=FAINT, linewidth=0.9, linestyle="--", label="unigrams")
    axes.legend()
    return drawing


@styled()
def quality(cell: Record) -> Drawing | None:
    drawing = Drawing(f"BLEU of {cell['name']} in validation", WIDTH, HEIGHT, MARGINS)
    axes = panel(drawing, "BLEU in validation", "BLEU")
    draw(drawing, axes, cell, "valid", "bleu", "validation")
    axes.set_ylim(0, max(1, axes.get_ylim()[1]))  # a cell that is stuck lies on the ground
    return drawing if axes.lines else None


@styled()
def gradient(cell: Record) -> Drawing | None:
    drawing = Drawing(f"gradient norm of {cell['name']}", WIDTH, HEIGHT, MARGINS)
    axes = panel(drawing, "gradient norm", "norm")
    draw(drawing, axes, cell, "train", "gnorm", "training")
    if not axes.lines:
        return None
    axes.set_yscale("log")
    plain(axes.yaxis)
    return drawing


def panel(drawing: Drawing, title: str, unit: str) -> Axes:
    axes: Axes = drawing.figure.subplots()
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set(xlabel="update", ylabel=unit)
    return axes


def draw(drawing: Drawing, axes: Axes, cell: Record, part: str, figure: str, label: str) -> None:
    """A curve; what is no number is a gap in it, and a curve of gaps is none."""
    measured = [point for point in cell["curves"][part] if finite(point.get(figure)) == point.get(figure)]
    if not measured:
        return
    points = cell["curves"][part]
    values = [finite(point.get(figure)) for point in points]
    marks = {"train": (COLOURS[0], "", 1.1), "valid": (COLOURS[1], "o", 1.5)}
    colour, marker, width = marks[part]
    if len(measured) == 1:
        marker = "o"  # one point makes no line
    updates = [point["update"] for point in points]
    (line,) = axes.plot(updates, values, color=colour, marker=marker, markersize=3.5, linewidth=width, label=label)
    drawing.mark(line, "curve", f"{label}: {measured[-1][figure]:.2f} at update {measured[-1]['update']}")


@styled()
def shortcuts(cell: Record) -> Drawing | None:
    """ADMIN's w, the mean over the width, by layer; a line a kind of sub-layer."""
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for shortcut in cell["shortcuts"]:
        if found := SUBLAYER.fullmatch(shortcut["sublayer"]):
            lines.setdefault((found[1], found[3]), []).append((int(found[2]) + 1, finite(shortcut["mean"])))
    if not lines:
        return None
    drawing = Drawing(f"ADMIN's w in {cell['name']}", WIDTH, HEIGHT, MARGINS)
    axes = panel(drawing, "ADMIN's w by sub-layer", "mean w")
    axes.set_xlabel("layer")
    for place, ((side, kind), points) in enumerate(sorted(lines.items(), reverse=True)):
        layers, means = zip(*sorted(points), strict=True)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        label = printable(f"{side} {kind}")
        (line,) = axes.plot(layers, means, color=colour, marker=marker, markersize=3.5, linewidth=1.1, label=label)
        drawing.mark(line, "shortcut", label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=7.5)
    return drawing
