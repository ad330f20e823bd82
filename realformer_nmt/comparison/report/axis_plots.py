"""Plots of quality against each axis of the grid: a line per family, a panel per place on the other axes."""

import math
from collections.abc import Mapping, Sequence

from realformer_nmt.comparison.grid.axes import AXES, shown
from realformer_nmt.comparison.report.formatting import (
    by_size,
    deep,
    drawn_metric,
    failure_text,
    families,
    printable,
)
from realformer_nmt.comparison.report.plots import dodges, draw_family, lowest_drawn, means
from realformer_nmt.comparison.results.results_file import ResultRow, Results
from realformer_nmt.figures.drawing import Axes, Drawing, looks, styled

WIDTH, HEIGHT = 2.3, 2.3  # inches of a panel; a page scales them
COLUMNS = 3
DEPTH = "depth"


def against_axes(results: Results) -> dict[str, Drawing]:
    """Return one drawing per axis that has several values."""
    return {name: against(results, name) for name in several(results)}


@styled()
def against(results: Results, name: str) -> Drawing:
    """Draw all panels to one scale; the values of the axis as categories, in order."""
    rest = [each for each in several(results) if each != name]
    panels: dict[str, list[ResultRow]] = {}
    for row in by_size(results.rows):
        panels.setdefault(titled(row, rest), []).append(row)
    label, columns = printable(drawn_metric(results).label), min(COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    drawing = Drawing(f"{label} against {axis_label(name)}", max(4.0, WIDTH * columns), HEIGHT * lines)
    grid = drawing.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    ordered = by_size(results.rows) if name == DEPTH else sorted(results.rows, key=lambda row: row.axes[name])
    places = list(dict.fromkeys(written(row, name) for row in ordered))
    for axes, (title, rows) in zip(grid.flat, panels.items(), strict=False):
        axes.set_title(printable(title), fontsize=9.0, loc="left")
        for family in families(results):
            at = {places.index(written(row, name)): row for row in rows if row.family == family}
            draw_family(drawing, axes, results, family, at, places)
            draw_crosses(drawing, axes, results, family, at)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    for axes in grid.flat[len(panels) - columns : len(panels)]:  # the lowest of each column
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(axis_label(name))
        axes.set_xticks(range(len(places)), list(map(printable, places)))
    grid[0, 0].set_ylim(bottom=max(lowest_drawn(means(results)), grid[0, 0].get_ylim()[0]))
    drawing.legend(grid[0, 0])
    return drawing


def several(results: Results) -> list[str]:
    """Return depth and the axes, as far as they have more than one value."""
    return [name for name in (DEPTH, *results.axes) if len({written(row, name) for row in results.rows}) > 1]


def written(row: ResultRow, name: str) -> str:
    """Return a row's depth or its value on an axis."""
    return row.depth if name == DEPTH else shown(row.axes[name])


def titled(row: ResultRow, names: Sequence[str]) -> str:
    """Return the title of a row's panel: its depth and values on the axes of these names."""
    return ", ".join(deep(row.depth) if name == DEPTH else f"{name} {written(row, name)}" for name in names)


def axis_label(name: str) -> str:
    return "layers" if name == DEPTH else AXES[name].label


def draw_crosses(drawing: Drawing, axes: Axes, results: Results, family: str, rows: Mapping[int, ResultRow]) -> None:
    """Draw a cross at the bottom of the axes, whatever their scale, for each row with failed models."""
    colour, dodge = looks(families(results))[family].colour, dodges(results)[family]
    for x, row in rows.items():
        if row.failed:
            place = [x + dodge]
            (mark,) = axes.plot(place, [0.02], "x", color=colour, markersize=6, transform=axes.get_xaxis_transform())
            drawing.mark(mark, "failed", f"{family} {failure_text(row)}")
