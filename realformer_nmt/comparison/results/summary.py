"""The table family x depth x axes: means and deviations over seeds, and differences to the baseline with their p.

The test of a difference asks whether it would hold on other sentences. Every seed of a family is tested against the
same seed of the baseline, and the largest p is reported, or 1 if the signs differ: the difference must hold at every
seed (Berger 1982's intersection-union test, whose level needs no correction). The difference of the means must have
that sign, too: they may be of more seeds than both have. Holm's correction is over the whole table.
"""

import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.comparison.grid.axes import Group
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.records.cell_record import MODEL_FAILED
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import MeanScore, ResultRow, group
from realformer_nmt.evaluation import p_values as corrections
from realformer_nmt.evaluation.metrics.metric_table import METRICS

SAMPLES, SEED = 10_000, 12345
Tested = TypeVar("Tested")
Means = dict[str, MeanScore]  # by metric


def rows(results: Sequence[CellResult], scored: Sequence[Cell], metric: str, baseline: str) -> list[ResultRow]:
    """Return a row per family and place; `scored` are the cells that are done and scored."""
    groups: dict[Group, list[CellResult]] = {}
    for result in results:
        groups.setdefault(group(result), []).append(result)
    table = {key: row(of_group, metric) for key, of_group in groups.items()}
    references = {(family, at): table.get((baseline, at)) for family, at in table if family != baseline}
    p_values = {
        key: p_of_rows(table[key], reference, scored, metric) for key, reference in references.items() if reference
    }
    corrected = holm(p_values)
    return [
        with_difference(entry, references.get(key), p_values.get(key), corrected.get(key))
        for key, entry in table.items()
    ]


def members(names: Collection[str], scored: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a row among those that are scored."""
    return [cell for cell in scored if cell.name in names]


def holm(p_values: Mapping[Tested, float | None]) -> dict[Tested, float]:
    """Return the p-values that there are, with Holm's correction for the number of them."""
    numbers = {key: p for key, p in p_values.items() if p is not None}
    return dict(zip(numbers, corrections.holm(list(numbers.values())), strict=True))


def row(results: Sequence[CellResult], metric: str) -> ResultRow:
    """Build the row of the cells of one group, without its difference to the baseline."""
    states = [result.state for result in results]
    done = [result for result in results if result.state == "done"]
    return ResultRow(
        family=results[0].family,
        layers=results[0].layers,
        depth=results[0].depth,
        axes=results[0].axes,
        cells=[result.name for result in results],
        seeds=scored_seeds(done, metric),
        failed=sum(map(states.count, MODEL_FAILED)),
        states=states,
        scores=mean_scores(done),
        parameters=middle([result.parameters for result in results]),
        tokens_a_second=middle([result.tokens_a_second for result in results]),
        hours=middle([result.hours for result in done or results]),  # one that diverged may have ended early
    )


def scored_seeds(done: Sequence[CellResult], metric: str) -> int:
    """Return the number of cells that have a score of a metric; if none has one, of any score.

    A model that predicts one number for all sentences has no correlation, and is not in the mean of the others."""
    return sum(metric in result.scores for result in done) or sum(bool(result.scores) for result in done)


def mean_scores(done: Sequence[CellResult]) -> Means:
    """Return the mean and the deviation of every metric over cells."""
    scores: dict[str, list[Number]] = {}
    for result in done:
        for name, score in result.scores.items():
            scores.setdefault(name, []).append(score.score)
    return {name: spread(values) for name, values in scores.items()}


def spread(values: Sequence[Number]) -> MeanScore:
    """Return the mean and the deviation of a sample, s^2 = sum (x - mean)^2 / (n - 1)."""
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return MeanScore(mean=statistics.fmean(values), deviation=deviation)


def middle(values: Sequence[Number | None]) -> Number | None:
    """Return the median of the values that there are."""
    numbers = [value for value in values if value is not None]
    return statistics.median(numbers) if numbers else None


def with_difference(row: ResultRow, reference: ResultRow | None, p: float | None, p_holm: float | None) -> ResultRow:
    """Return a row with its difference to the baseline's row at the same place, and its p."""
    delta = deltas(row.scores, reference.scores) if reference else {}
    is_bound = p is not None and corrections.is_bound(p, SAMPLES)
    return replace(row, delta=delta or None, p=p, p_holm=p_holm, p_is_bound=is_bound)


def deltas(means: Means, baseline: Means) -> dict[str, Number]:
    """Return the differences of the metrics that both have."""
    return {name: score.mean - baseline[name].mean for name, score in means.items() if name in baseline}


def p_of_rows(row: ResultRow, reference: ResultRow, scored: Sequence[Cell], metric: str) -> float | None:
    """Return the largest p over the seeds that both rows have, 1 if they do not all differ as the means do."""
    by_seed = {cell.seed: cell for cell in members(reference.cells, scored)}
    differences = [
        scoring_of(cell.task).compare(cell.scores, by_seed[cell.seed].scores, metric, SAMPLES, SEED)
        for cell in members(row.cells, scored)
        if cell.seed in by_seed
    ]
    of_means = deltas(row.scores, reference.scores).get(metric)
    return corrections.largest_p([each for each in differences if each is not None], of_means)


def mark_best(rows: Sequence[ResultRow], scored: Sequence[Cell], metric: str) -> list[ResultRow]:
    """Return the rows with `p_best`, of the difference to the best mean with Holm's correction over all rows, and with
    `best`. Two rows that share no seed cannot be told apart."""
    by_mean = ranked([row for row in rows if row.seeds and metric in row.scores], metric)
    corrected = holm({group(row): p_of_rows(row, by_mean[0], scored, metric) for row in by_mean[1:]})
    groups = set(map(group, by_mean))
    marked = []
    for row in rows:
        p_best = corrected.get(group(row))
        is_best = group(row) in groups and (p_best is None or p_best >= corrections.ALPHA)
        marked.append(replace(row, p_best=p_best, best=is_best))
    return marked


def ranked(rows: Sequence[ResultRow], metric: str) -> list[ResultRow]:
    """Return the rows by their means, the best first."""
    return sorted(rows, key=lambda row: row.scores[metric].mean, reverse=METRICS[metric].higher_is_better)
