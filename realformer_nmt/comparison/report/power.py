"""Power of the test of significance: which rows are the best, and how large a difference is significant."""

import statistics
from collections.abc import Sequence

from realformer_nmt.comparison.results.results_file import ResultRow
from realformer_nmt.evaluation.p_values import ALPHA

NORMAL = statistics.NormalDist()
MOST_P = 0.5  # a larger p says little about the error of its difference


def scored(rows: Sequence[ResultRow], metric: str) -> list[ResultRow]:
    return [row for row in rows if row.seeds and metric in row.scores]


def best_rows(rows: Sequence[ResultRow], metric: str) -> list[ResultRow]:
    """Return the rows that are not significantly worse than the best; none if these are all rows with a score."""
    rows_with_score = scored(rows, metric)
    best = [row for row in rows_with_score if row.best]
    return best if len(best) < len(rows_with_score) else []


def is_real(row: ResultRow) -> bool:
    """Tell whether the difference to the baseline is beyond chance."""
    return row.p_holm is not None and row.p_holm < ALPHA


def smallest_significant(rows: Sequence[ResultRow], metric: str) -> float | None:
    """Estimate the difference to the baseline from which on a test is significant, from the tests that were made.

    A difference d with a two-sided p has about the standard error d / z(1 - p/2). The median of these errors, times
    z(1 - ALPHA/2n) for n tests, is about what Holm's correction asks of the smallest p.
    """
    errors, tests = [], 0
    for row in rows:
        delta = (row.delta or {}).get(metric)
        if row.p is None or delta is None:
            continue
        tests += 1
        if row.p < MOST_P and not row.p_is_bound:
            errors.append(abs(delta) / NORMAL.inv_cdf(1 - row.p / 2))
    return statistics.median(errors) * NORMAL.inv_cdf(1 - ALPHA / 2 / tests) if errors else None
