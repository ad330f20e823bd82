"""Trend of the losses where every model is stuck: a training that is too short shows nothing about its family."""

import statistics
from collections.abc import Collection, Sequence

from realformer_nmt.comparison.records.curves import CurvePoint

STUCK = "stuck"
TOO_SHORT = "too few updates"  # shown instead of `stuck`
FALL = 0.1  # bits a token, from the third quarter of a training to the last


def all_too_short(cells: Collection[tuple[str, Sequence[CurvePoint]]]) -> bool:
    """Tell by their states and training curves whether all models are stuck while all losses still fall."""
    return bool(cells) and all(state == STUCK and still_falls(train) for state, train in cells)


def still_falls(train: Sequence[CurvePoint]) -> bool:
    """Tell whether the mean loss of the last quarter of the points is clearly below that of the quarter before."""
    losses = [point.nll_loss for point in train if isinstance(point.nll_loss, float)]
    quarter = max(1, len(losses) // 4)
    before, last = losses[-2 * quarter : -quarter], losses[-quarter:]
    return bool(before) and statistics.fmean(last) < statistics.fmean(before) - FALL
