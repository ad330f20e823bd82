"""The best rows of the table: the one with the best mean, and all that are not significantly worse."""

from collections.abc import Sequence

from msgspec.structs import replace

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.results.results_file import ResultRow, group
from realformer_nmt.comparison.results.summary import holm, p_of_rows
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.p_values import ALPHA


def mark(rows: Sequence[ResultRow], scored: Sequence[Cell], metric: str) -> list[ResultRow]:
    """Return the rows with `p_best`, of the difference to the best mean with Holm's correction over all rows, and with
    `best`. Two rows that share no seed cannot be told apart."""
    by_mean = ranked([row for row in rows if row.seeds and metric in row.scores], metric)
    corrected = holm({group(row): p_of_rows(row, by_mean[0], scored, metric) for row in by_mean[1:]})
    groups = set(map(group, by_mean))
    marked = []
    for row in rows:
        p_best = corrected.get(group(row))
        is_best = group(row) in groups and (p_best is None or p_best >= ALPHA)
        marked.append(replace(row, p_best=p_best, best=is_best))
    return marked


def ranked(rows: Sequence[ResultRow], metric: str) -> list[ResultRow]:
    """Return the rows by their means, the best first."""
    return sorted(rows, key=lambda row: row.scores[metric].mean, reverse=METRICS[metric].higher_is_better)
