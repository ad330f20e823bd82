"""Text of the figures of results.json, for the tables, the plots and the page."""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.common.terminal import printable as printable
from realformer_nmt.comparison.grid.axes import shown as shown_on
from realformer_nmt.comparison.records.cell_record import MODEL_FAILED
from realformer_nmt.comparison.results.cell_result import CellResult, CellScore
from realformer_nmt.comparison.results.results_file import (
    MeanScore,
    MetricColumn,
    OutsideRow,
    ResultRow,
    Results,
    metric_column,
)
from realformer_nmt.evaluation.p_values import shown
from realformer_nmt.evaluation.significance import signed

Entry = TypeVar("Entry", CellResult, ResultRow)

NOTHING = "\N{EN DASH}"
MARK = "\N{DAGGER}"  # marks a row that other versions made


def by_size(entries: Iterable[Entry]) -> list[Entry]:
    """Return rows or cells, the shallow first, then by the axes; those of one place in their order."""
    return sorted(entries, key=lambda entry: (sum(entry.layers), entry.layers, [*entry.axes.values()]))


def deep(depth: str) -> str:
    return "1 layer" if depth == "1" else f"{depth} layers"


def on_axes(entry: CellResult | ResultRow | OutsideRow) -> list[str]:
    return [f"{name} {shown_on(value)}" for name, value in entry.axes.items()]


def placed(entry: CellResult | ResultRow | OutsideRow) -> str:
    """Return the place of a row or cell, `18 layers, lr 0.001`."""
    return ", ".join([deep(entry.depth or NOTHING), *on_axes(entry)])


def short(entry: CellResult | ResultRow) -> str:
    """Return the place in short, `18, lr 0.001`."""
    return ", ".join([entry.depth, *on_axes(entry)])


def depths(results: Results) -> dict[str, list[int]]:
    """Return the name of each depth and its layers, the shallow first."""
    return {row.depth: row.layers for row in by_size(results.rows)}


def families(results: Results) -> list[str]:
    return list(dict.fromkeys(row.family for row in results.rows))


def metrics(results: Results) -> list[MetricColumn]:
    """Return the metrics, the one that the grid chose to draw and to test first."""
    return drawn_first(results.metric, results.metrics)


def drawn_first(name: str, columns: Sequence[MetricColumn]) -> list[MetricColumn]:
    """Return the columns with a metric's first; it is added where no cell has a score yet."""
    drawn = next((column for column in columns if column.name == name), None) or metric_column(name)
    return [drawn, *(column for column in columns if column.name != name)]


def drawn_metric(results: Results) -> MetricColumn:
    return metrics(results)[0]


def spread(score: MeanScore) -> str:
    return f"{score.mean:.2f}" + ("" if score.deviation is None else f" ± {score.deviation:.2f}")


def interval(score: CellScore) -> str:
    """Return one training's score with its confidence interval over other sentences."""
    return f"{score.score:.2f}" + (f" ± {score.interval:.2f}" if score.interval else "")


def failure(row: ResultRow) -> str:
    """Return `failed (diverged)`, or nothing where no model failed."""
    return f"failed ({kinds(row)})" if row.failed else ""


def kinds(row: ResultRow) -> str:
    """Return how the models of a row failed, `diverged, stuck`."""
    return ", ".join(state for state in MODEL_FAILED if state in row.states)


def failure_text(row: ResultRow) -> str:
    """Return `stuck, 1 of 3`: how the models of a row failed, and how many if not all."""
    return kinds(row) if row.failed in (0, len(row.states)) else f"{kinds(row)}, {row.failed} of {len(row.states)}"


def measured(row: ResultRow, metric: str) -> str:
    """Return mean and deviation of a row that has them."""
    return spread(row.scores[metric]) if row.seeds and metric in row.scores else NOTHING


def quality(row: ResultRow, metric: str) -> str:
    """Return mean and deviation, or why a row has no score."""
    score = measured(row, metric)
    if score != NOTHING:
        return score
    unfinished = dict.fromkeys(state for state in row.states if state not in ("done", *MODEL_FAILED))
    return failure(row) or ", ".join(unfinished) or NOTHING


def seeds(row: ResultRow) -> str:
    """Return the number of trainings that the mean is over, and how the rest failed."""
    trainings = len(row.states)
    if row.seeds == trainings:
        return str(trainings)
    reason = failure(row) if row.seeds else ""
    return f"{row.seeds} of {trainings}" + (f", {reason}" if reason else "")


def difference(row: ResultRow | OutsideRow, metric: str) -> str:
    delta = (row.delta or {}).get(metric)
    return NOTHING if delta is None else signed(delta).replace("-", "\N{MINUS SIGN}")


def probability(row: ResultRow | OutsideRow) -> str:
    return NOTHING if row.p_holm is None else shown(row.p_holm, row.p_is_bound)


def millions(number: float | None) -> str:
    return NOTHING if number is None else f"{number / 1e6:,.{2 if number < 1e7 else 1}f} M"


def whole(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"


def duration(hours: float | None) -> str:
    """Return `2.6 min`, or from an hour on `1.5 h`."""
    return NOTHING if hours is None else f"{60 * hours:.2g} min" if hours < 1 else f"{hours:,.1f} h"


def either(numbers: Collection[int]) -> str:
    """Return `500 or 2,000`, or of more numbers the smallest and the largest, `500 to 2,000`."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} {'or' if len(numbers) == 2 else 'to'} {high:,}"


def finite(number: Number | None) -> Number:
    """Return the number; NaN, a gap in a curve, where the value is missing or not finite."""
    return number if number is not None and math.isfinite(number) else math.nan
