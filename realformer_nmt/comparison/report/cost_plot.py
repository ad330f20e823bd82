"""Plot of quality against cost: each family at each depth by the hours of a training."""

import statistics
from typing import NamedTuple

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.comparison.report.formatting import drawn_metric, families, placed, printable, short
from realformer_nmt.comparison.report.plots import lowest_drawn
from realformer_nmt.comparison.report.side_labels import Label, beside, room
from realformer_nmt.comparison.results.results_file import ResultRow, Results, group
from realformer_nmt.figures.drawing import Axes, Drawing, Look, looks, plain, styled

WIDTH, HEIGHT = 3.6, 3.2  # inches; a page scales it, on a phone to its width: narrow, the text is large
MINUTES = 60.0  # an hour


class Spread(NamedTuple):
    """Mean and deviation over seeds."""

    mean: float
    deviation: float

    def ends(self, lowest: float) -> tuple[float, float]:
        return max(lowest, self.mean - self.deviation), self.mean + self.deviation


class CostPoint(NamedTuple):
    """A row of the table, with its cost and its score."""

    row: ResultRow
    cost: Spread
    score: Spread


@styled()
def cost(results: Results) -> Drawing | None:
    metric = drawn_metric(results)
    measured_rows = [measured(results, row, metric.name) for row in results.rows]
    points = [point for point in measured_rows if point]
    if not points:
        return None
    longest = max(point.cost.mean for point in points)
    unit, factor = ("hours", 1.0) if longest > 2 else ("minutes", MINUTES)
    drawing = Drawing(f"{metric.label} against {unit} of training", WIDTH, HEIGHT, {})
    axes: Axes = drawing.figure.subplots()
    axes.set(xlabel=f"{unit} a training", ylabel=printable(metric.label))
    look, lowest = looks(families(results)), lowest_drawn(point.score.mean for point in points)
    labels = [draw(drawing, axes, point, look[point.row.family], factor, lowest) for point in points]
    if longest > 20 * min(point.cost.mean for point in points) > 0:
        axes.set_xscale("log")
        plain(axes.xaxis)
    else:
        axes.set_xlim(left=0)
    axes.set_ylim(bottom=max(lowest, axes.get_ylim()[0]))
    room(drawing, [label.text for label in labels], len(labels))
    beside(drawing, axes, labels)
    return drawing


def measured(results: Results, row: ResultRow, metric: str) -> CostPoint | None:
    """Return the point of a row, over the cells that are done."""
    hours, scores = [], []
    for cell in results.cells:
        is_scored = group(cell) == group(row) and cell.state == "done" and metric in cell.scores
        if is_scored and cell.hours is not None:
            hours.append(cell.hours)
            scores.append(cell.scores[metric].score)
    return CostPoint(row, spread(hours), spread(scores)) if hours else None


def spread(values: list[Number]) -> Spread:
    return Spread(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)


def draw(drawing: Drawing, axes: Axes, point: CostPoint, look: Look, factor: float, lowest: float) -> Label:
    x, y = point.cost.mean * factor, point.score.mean
    bars = [([x, x], point.score.ends(lowest)), ([end * factor for end in point.cost.ends(0.0)], [y, y])]
    for xs, ys in bars:
        if xs[0] != xs[1] or ys[0] != ys[1]:
            (bar,) = axes.plot(xs, ys, color=look.colour, linewidth=1.1, alpha=0.8)
            drawing.mark(bar, "cost-deviation", f"{point.row.family}, {placed(point.row)}")
    (mark,) = axes.plot([x], [y], look.marker, color=look.colour)
    drawing.mark(mark, "cost", f"{point.row.family}, {placed(point.row)}: {y:.2f}")
    return Label(x, y, f"{point.row.family} {short(point.row)}", look)
