"""Trend of the losses where every model is stuck: a training that is too short shows nothing about its family."""

import statistics
from collections.abc import Sequence

from msgspec.structs import replace

from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.results.results_file import ResultRow, Results

TOO_SHORT = "too few updates"  # the state that a report shows instead of `stuck`
FALL = 0.1  # bits a token, from the third quarter of a training to the last


def restated(results: Results) -> Results:
    """Return the results as a report shows them: where all models are stuck and all losses still fall, none failed."""
    cells = results.cells
    if not cells or not all(cell.state == "stuck" and still_falls(cell.curves.train) for cell in cells):
        return results
    tuned = results.tuned
    return replace(
        results,
        cells=[replace(cell, state=TOO_SHORT) for cell in cells],
        rows=unfailed(results.rows),
        further=[replace(table, rows=unfailed(table.rows)) for table in results.further],
        tuned=replace(tuned, rows=unfailed(tuned.rows)) if tuned else None,
    )


def unfailed(rows: Sequence[ResultRow]) -> list[ResultRow]:
    return [replace(row, failed=0, states=[TOO_SHORT] * len(row.states)) for row in rows]


def still_falls(train: Sequence[CurvePoint]) -> bool:
    """Tell whether the mean loss of the last quarter of the points is clearly below that of the quarter before."""
    losses = [point.nll_loss for point in train if isinstance(point.nll_loss, float)]
    quarter = max(1, len(losses) // 4)
    before, last = losses[-2 * quarter : -quarter], losses[-quarter:]
    return bool(before) and statistics.fmean(last) < statistics.fmean(before) - FALL
