"""The table family x depth x axes: means and deviations over seeds, and differences to the baseline with their p.

The test of a difference asks whether it would hold on other sentences. Every seed of a family is tested against the
same seed of the baseline, and the largest p is reported: the difference must hold at every seed (Berger 1982's
intersection-union test, whose level needs no correction). Holm's correction is over the whole table.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.groups import Group, group
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.comparison.results.cell_result import CellResult, Number
from realformer_nmt.comparison.results.results_file import MeanScore, ResultRow
from realformer_nmt.evaluation import significance

SAMPLES, SEED = 10_000, 12345
Tested = TypeVar("Tested")
Means = dict[str, MeanScore]  # by metric


class Difference(NamedTuple):
    """Difference of a row to the baseline's row at the same place, with its p."""

    delta: dict[str, Number] | None = None
    p: float | None = None
    p_holm: float | None = None
    p_is_bound: bool = False


UNCOMPARED = Difference()


def rows(results: Sequence[CellResult], cells: Sequence[Cell], metric: str, baseline: str) -> list[ResultRow]:
    """Return a row per family and place; `results` are those of the cells, in their order."""
    groups: dict[Group, list[int]] = {}
    for number, result in enumerate(results):
        groups.setdefault(group(result), []).append(number)
    members = {key: [results[number] for number in numbers] for key, numbers in groups.items()}
    means = {key: mean_scores(of_group) for key, of_group in members.items()}
    p_values: dict[Group, float] = {}
    for (family, place), numbers in groups.items():
        if family != baseline and (baseline, place) in groups:
            against = [cells[number] for number in groups[baseline, place]]
            p = largest_p([cells[number] for number in numbers], against, metric)
            if p is not None:
                p_values[family, place] = p
    corrected = holm(p_values)
    table = []
    for (family, place), of_group in members.items():
        key = (family, place)
        reference = means.get((baseline, place)) if family != baseline else None
        compared = difference(means[key], reference, p_values.get(key), corrected.get(key))
        table.append(row(of_group, compared))
    return table


def holm(p_values: Mapping[Tested, float]) -> dict[Tested, float]:
    """Return the p-values with Holm's correction for the number of them."""
    return dict(zip(p_values, significance.holm(list(p_values.values())), strict=True))


def row(members: Sequence[CellResult], compared: Difference = UNCOMPARED) -> ResultRow:
    """Build the row of the cells of one group."""
    states = [member.state for member in members]
    return ResultRow(
        family=members[0].family,
        layers=members[0].layers,
        depth=members[0].depth,
        axes=members[0].axes,
        cells=[member.name for member in members],
        seeds=states.count("done"),
        failed=states.count("stuck") + states.count("diverged"),
        states=states,
        scores=mean_scores(members),
        parameters=middle([member.parameters for member in members]),
        tokens_a_second=middle([member.tokens_a_second for member in members]),
        hours=middle([member.hours for member in members]),
        **compared._asdict(),
    )


def mean_scores(members: Sequence[CellResult]) -> Means:
    """Return the mean and the deviation of every metric over the cells that are done."""
    scores: dict[str, list[Number]] = {}
    for member in members:
        if member.state == "done":
            for name, score in member.scores.items():
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


def difference(means: Means, baseline: Means | None, p: float | None, p_holm: float | None) -> Difference:
    """Return the difference of a row's means to the baseline's, of the metrics that both have."""
    is_bound = p is not None and p <= 1 / (SAMPLES + 1) + 1e-12
    if baseline is None:
        return Difference(None, p, p_holm, is_bound)
    delta: dict[str, Number] = {
        name: score.mean - baseline[name].mean for name, score in means.items() if name in baseline
    }
    return Difference(delta or None, p, p_holm, is_bound)


def largest_p(candidates: Sequence[Cell], baselines: Sequence[Cell], metric: str) -> float | None:
    """Return the largest p over the seeds that both have done."""
    scored = {cell.seed: cell for cell in baselines if done(cell)}
    p_values = []
    for cell in candidates:
        if cell.seed in scored and done(cell):
            p = p_value(cell, scored[cell.seed], metric)
            if p is not None:
                p_values.append(p)
    return max(p_values, default=None)


def done(cell: Cell) -> bool:
    """Tell whether a cell is done and scored; a test set added to the grid later is not scored yet."""
    return CellRecord(cell).state == "done" and cell.scores.is_file()


def p_value(candidate: Cell, baseline: Cell, metric: str) -> float | None:
    """Return p of one seed's difference; None where the two were scored on other test sets."""
    return scoring_of(candidate.task).p_value(candidate.scores, baseline.scores, metric, SAMPLES, SEED)
