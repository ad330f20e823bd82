"""What the report draws of all cells: quality against depth, the way there, and what it cost."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from realformer_nmt.comparison.drawing import FAINT, INK, Drawing, Look, looks, plain, styled
from realformer_nmt.comparison.wording import (
    Record,
    deep,
    depths,
    drawn_metric,
    failure,
    families,
    finite,
    printable,
    spread,
)

WIDTH = 4.7  # inches; a page scales it
STRIP = 0.19  # inches for each line of failed cells
DODGE = 0.05  # of a category, so that the bars of two families do not hide each other
SMALL = 8.0
HOUR = 60.0
Failure = tuple[float, str, str]  # place, family, what is said


@styled()
def by_depth(results: Record) -> Drawing:
    """A line a family over depths, as categories; what failed stands below, named."""
    label = printable(drawn_metric(results)["label"])
    names, failed = list(depths(results)), failures(results)
    strip = STRIP * max((len([one for one in failed if one[0] == place]) for place in range(len(names))), default=0)
    drawing = Drawing(f"{label} against depth", WIDTH, 2.8 + strip)
    axes: Axes
    if failed:
        axes, below = drawing.figure.subplots(2, 1, sharex=True, height_ratios=[2.6, strip])
        axes.tick_params(bottom=False, labelbottom=False)
        axes.spines["bottom"].set_visible(False)
        draw_failures(drawing, below, failed, looks(families(results)))
    else:
        axes = below = drawing.figure.subplots()
    axes.set_ylabel(label)
    below.set_xlabel("layers (encoder-decoder)" if any("-" in name for name in names) else "encoder and decoder layers")
    below.set_xticks(range(len(names)), [printable(name) for name in names])
    below.set_xlim(-0.5, len(names) - 0.5)
    for place, (family, look) in enumerate(looks(families(results)).items()):
        draw_family(drawing, axes, results, family, look, (place - (len(families(results)) - 1) / 2) * DODGE)
    draw_published(drawing, axes, results)
    if not any(row["seeds"] and results["metric"] in row["scores"] for row in results["rows"]):
        axes.text(0.5, 0.5, "no cell has a score", transform=axes.transAxes, ha="center", alpha=FAINT)
        axes.set_yticks([])
    drawing.legend(axes)
    return drawing


def draw_family(drawing: Drawing, axes: Axes, results: Record, family: str, look: Look, dodge: float) -> None:
    places, metric = list(depths(results)), results["metric"]
    own = [row for row in results["rows"] if row["family"] == family and row["seeds"]]
    scores = {row["depth"]: row["scores"][metric] for row in own if metric in row["scores"]}
    where = [place + dodge for place in range(len(places))]
    means = [scores[depth]["mean"] if depth in scores else math.nan for depth in places]  # no line over a failure
    (line,) = axes.plot(where, means, color=look.colour, marker=look.marker, label=printable(family))
    told = [f"{deep(depth)} {spread(score)}" for depth, score in scores.items()]
    drawing.mark(line, "family", f"{family}: {'; '.join(told) or 'no score'}")
    for x, depth in zip(where, places, strict=True):
        score = scores.get(depth)
        if score and score["deviation"] is not None:
            ends = [score["mean"] - score["deviation"], score["mean"] + score["deviation"]]
            (bar,) = axes.plot([x, x], ends, color=look.colour, marker="_", markersize=7, linewidth=1.1)
            drawing.mark(bar, "deviation", f"{family}: {spread(score)}")


def failures(results: Record) -> list[Failure]:
    places = list(depths(results))
    return [
        (places.index(row["depth"]), row["family"], f"{row['family']} {told(row)}")
        for row in results["rows"]
        if row["failed"]
    ]


def told(row: Record) -> str:
    kinds = failure(row["states"]).removeprefix("failed (").removesuffix(")")
    return kinds if row["failed"] == len(row["states"]) else f"{kinds}, {row['failed']} of {len(row['states'])}"


def draw_failures(drawing: Drawing, axes: Axes, failed: Sequence[Failure], look: dict[str, Look]) -> None:
    lines: dict[float, int] = {}
    for x, family, text in failed:
        y = lines[x] = lines.get(x, -1) + 1
        (cross,) = axes.plot([x - 0.22], [y], color=look[family].colour, marker="x", markersize=6, markeredgewidth=1.8)
        drawing.mark(cross, "failed", text)
        axes.annotate(printable(text), (x - 0.22, y), (7, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.set_ylim(max(lines.values()) + 0.6, -0.6)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.set_ylabel("failed", rotation="horizontal", ha="right", va="center")
    axes.spines["left"].set_visible(False)


def draw_published(drawing: Drawing, axes: Axes, results: Record) -> None:
    """Where metric and corpus agree, at the depths of this comparison."""
    layers = list(depths(results).values())
    label: str | None = "published"
    for figure in results["published"]:
        size = [figure["encoder_layers"], figure["decoder_layers"]]
        if figure["bleu"] is None or figure["comparable_with"] != results["metric"] or size not in layers:
            continue
        place = [layers.index(size) + 0.24]
        (mark,) = axes.plot(
            place, [figure["bleu"]], "D", color=INK, alpha=FAINT, markersize=4, markerfacecolor="none", label=label
        )
        drawing.mark(mark, "published", f"{figure['paper']}, {figure['model']}: {figure['bleu']:.2f}")
        label = None  # one line in the legend


@styled()
def validation(results: Record, depth: str) -> Drawing | None:
    """The validation loss of all cells of a depth: who learns, and how fast."""
    cells = [cell for cell in results["cells"] if cell["depth"] == depth and cell["curves"]["valid"]]
    if not cells:
        return None
    drawing = Drawing(f"validation loss, {deep(depth)}", WIDTH * 0.9, 2.5)
    axes = drawing.figure.subplots()
    axes.set(xlabel="update", ylabel="bits a target token", title=printable(deep(depth)))
    look, shown = looks(families(results)), set()
    for cell in cells:
        points = cell["curves"]["valid"]
        updates, bits = [point["update"] for point in points], [finite(point.get("nll_loss")) for point in points]
        colour, marker = look[cell["family"]]
        label = None if cell["family"] in shown else printable(cell["family"])
        (line,) = axes.plot(updates, bits, color=colour, marker=marker, markersize=3.5, linewidth=1.2, label=label)
        drawing.mark(line, "validation", f"{cell['name']}: {bits[-1]:.2f} bits")
        shown.add(cell["family"])
    drawing.legend(axes)
    return drawing


@styled()
def cost(results: Record) -> Drawing | None:
    """Each scored cell by its hours; the depth stands beside the longest."""
    metric = drawn_metric(results)
    cells = [cell for cell in results["cells"] if scored(cell, metric["name"])]
    if not cells:
        return None
    longest = max(cell["hours"] for cell in cells)
    unit, factor = ("hours", 1.0) if longest > 2 else ("minutes", HOUR)
    drawing = Drawing(f"{metric['label']} against {unit} of training", WIDTH, 2.7)
    axes = drawing.figure.subplots()
    axes.set(xlabel=f"{unit} a cell", ylabel=printable(metric["label"]))
    for family, look in looks(families(results)).items():
        groups: dict[str, list[tuple[float, float]]] = {}
        for cell in cells:
            if cell["family"] == family:
                point = (cell["hours"] * factor, cell["scores"][metric["name"]]["score"])
                groups.setdefault(cell["depth"], []).append(point)
        draw_cost(drawing, axes, family, look, groups)
    if longest > 20 * min(cell["hours"] for cell in cells) > 0:
        axes.set_xscale("log")
        plain(axes.xaxis)
    else:
        axes.set_xlim(left=0)
    drawing.legend(axes)
    return drawing


def scored(cell: Record, metric: str) -> bool:
    return cell["state"] == "done" and metric in cell["scores"] and cell["hours"] is not None


def draw_cost(
    drawing: Drawing, axes: Axes, family: str, look: Look, groups: dict[str, list[tuple[float, float]]]
) -> None:
    label: str | None = printable(family)
    for depth, points in groups.items():
        for x, y in points:
            (mark,) = axes.plot([x], [y], look.marker, color=look.colour, alpha=0.85, label=label)
            drawing.mark(mark, "cost", f"{family}, {deep(depth)}: {y:.2f}")
            label = None
        axes.annotate(
            printable(depth), max(points), (6, 0), textcoords="offset points", va="center", fontsize=SMALL, alpha=0.8
        )
