"""Plots of quality against each axis of the grid: a line per family, a panel per place on the other axes."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from realformer_nmt.comparison.grid.axes import AXES, shown
from realformer_nmt.comparison.report.formatting import (
    by_size,
    deep,
    drawn_metric,
    failure_text,
    families,
    printable,
    spread,
)
from realformer_nmt.comparison.report.plots import dodges, lowest_drawn, means
from realformer_nmt.comparison.results.results_file import ResultRow, Results
from realformer_nmt.figures.drawing import Axes, Drawing, Look, looks, styled

WIDTH, HEIGHT = 2.3, 2.3  # inches of a panel; a page scales them
COLUMNS = 3
DEPTH = "depth"
Coordinate = Callable[[ResultRow], Any]


def coordinates(results: Results) -> dict[str, Coordinate]:
    """Return the functions that read depth and each axis from a row, by name."""
    return {DEPTH: lambda row: row.depth, **{name: along(name) for name in results.axes}}


def along(name: str) -> Coordinate:
    return lambda row: row.axes[name]


def against_axes(results: Results) -> dict[str, Drawing]:
    """Return one drawing per axis that has several values."""
    rows = by_size(results.rows)
    several = [name for name, of in coordinates(results).items() if len({of(row) for row in rows}) > 1]
    return {name: against(results, name) for name in several}


@styled()
def against(results: Results, name: str) -> Drawing:
    """Draw all panels to one scale; the values of the axis as categories, in order."""
    rows, all_of = by_size(results.rows), coordinates(results)
    of = all_of.pop(name)
    panels: dict[str, list[ResultRow]] = {}
    for row in rows:
        panels.setdefault(titled(row, all_of, rows), []).append(row)
    values = list(dict.fromkeys(map(of, rows if name == DEPTH else sorted(rows, key=of))))
    label, columns = printable(drawn_metric(results).label), min(COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    drawing = Drawing(f"{label} against {axis_label(name)}", max(4.0, WIDTH * columns), HEIGHT * lines)
    grid = drawing.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    for axes, (title, panel_rows) in zip(grid.flat, panels.items(), strict=False):
        axes.set_title(printable(title), fontsize=9.0, loc="left")
        draw(drawing, axes, results, panel_rows, [of(row) for row in panel_rows], values)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    for axes in grid.flat[len(panels) - columns : len(panels)]:  # the lowest of each column
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(axis_label(name))
        axes.set_xticks(range(len(values)), [printable(category(value)) for value in values])
    grid[0, 0].set_ylim(bottom=max(lowest_drawn(means(results)), grid[0, 0].get_ylim()[0]))
    drawing.legend(grid[0, 0])
    return drawing


def axis_label(name: str) -> str:
    return "layers" if name == DEPTH else AXES[name].label


def category(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


def titled(row: ResultRow, coordinates: dict[str, Coordinate], rows: Sequence[ResultRow]) -> str:
    """Return the title of a row's panel: the coordinates that have more than one value."""
    several = [name for name, of in coordinates.items() if len({of(each) for each in rows}) > 1]
    return ", ".join(deep(row.depth) if name == DEPTH else f"{name} {shown(row.axes[name])}" for name in several)


def draw(
    drawing: Drawing, axes: Axes, results: Results, rows: Sequence[ResultRow], at: Sequence[Any], values: Sequence[Any]
) -> None:
    names, metric, lowest = families(results), results.metric, lowest_drawn(means(results))
    for family, look in looks(names).items():
        by_x = {values.index(value): row for row, value in zip(rows, at, strict=True) if row.family == family}
        scores = {x: row.scores[metric] for x, row in by_x.items() if row.seeds and metric in row.scores}
        dodge = dodges(results)[family]
        where = [x + dodge for x in range(len(values))]
        heights = [scores[x].mean if x in scores else math.nan for x in range(len(values))]  # no line over a failure
        (line,) = axes.plot(where, heights, color=look.colour, marker=look.marker, label=printable(family))
        drawing.mark(line, "axis", "; ".join([family, *map(spread, scores.values())]))
        for x, score in scores.items():
            if score.deviation is not None:
                ends = [max(lowest, score.mean - score.deviation), score.mean + score.deviation]
                axes.plot([x + dodge] * 2, ends, color=look.colour, marker="_", markersize=6, linewidth=1.0)
        for x, row in by_x.items():
            if row.failed:
                cross(drawing, axes, x + dodge, look, f"{family} {failure_text(row)}")


def cross(drawing: Drawing, axes: Axes, x: float, look: Look, text: str) -> None:
    """Draw a cross at the bottom of the axes, whatever their scale."""
    (mark,) = axes.plot([x], [0.02], "x", color=look.colour, markersize=6, transform=axes.get_xaxis_transform())
    drawing.mark(mark, "failed", text)
