"""Table of each family with its best value of some axes: chosen on the validation data, compared on the test set.

p is of the chosen setting against the baseline's chosen one. Holm's correction is over every setting that was tried,
not over the chosen ones alone, so that more tries are no advantage. One that failed counts as p = 1.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.comparison.grid.axes import Group
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow, group
from realformer_nmt.comparison.results.summary import holm, p_of_rows, with_difference
from realformer_nmt.comparison.running.tuning_choice import lowest, mean, untuned_place
from realformer_nmt.evaluation.metrics.metric_table import LOSS


def rows(
    table: Sequence[ResultRow],
    results: Sequence[CellResult],
    scored: Sequence[Cell],
    metric: str,
    baseline: str,
    tune: Sequence[str],
) -> list[ResultRow]:
    """Return a row per family, depth and values of the other axes, with `tried`. `table` has the rows of all settings;
    the losses of `results` choose among them."""
    losses = {result.name: loss(result) for result in results}
    candidates: dict[Group, list[ResultRow]] = {}
    for row in table:
        place = untuned_place(row.depth, row.axes.items(), tune)
        candidates.setdefault((row.family, place), []).append(row)
    selected = {key: choose(rows_of_family, losses) for key, rows_of_family in candidates.items()}
    p_values = tests(candidates, selected, scored, metric, baseline)
    corrected = holm({key: 1.0 if p is None else p for key, p in p_values.items()})
    tuned = []
    for (family, place), row in selected.items():
        reference = selected.get((baseline, place)) if family != baseline else None
        p = p_values.get(group(row)) if row.seeds else None
        compared = with_difference(row, reference, p, None if p is None else corrected[group(row)])
        tuned.append(replace(compared, best=False, p_best=None, tried=len(candidates[family, place])))
    return tuned


def loss(result: CellResult) -> Number | None:
    """Return the validation loss of a cell that is done."""
    score = result.scores.get(LOSS) if result.state == "done" else None
    return score.score if score else None


def choose(candidates: Sequence[ResultRow], losses: Mapping[str, Number | None]) -> ResultRow:
    """Return the setting with the lowest validation loss, the mean over seeds, among those whose trainings all ended
    well; if there is none, return a row without a score that counts all failures."""
    means = [mean([losses[name] for name in row.cells if name in losses]) for row in candidates]
    best = lowest(dict(enumerate(means)))
    if best is not None:
        return candidates[best]
    states = [state for row in candidates for state in row.states]
    failed = sum(row.failed for row in candidates)
    return replace(candidates[0], seeds=0, failed=failed, states=states, scores={})


def tests(
    candidates: Mapping[Group, Sequence[ResultRow]],
    selected: Mapping[Group, ResultRow],
    scored: Sequence[Cell],
    metric: str,
    baseline: str,
) -> dict[Group, float | None]:
    """Return p of every setting against the baseline's chosen one; None if one of the two has failed."""
    p_values: dict[Group, float | None] = {}
    for (family, place), rows_of_family in candidates.items():
        reference = selected.get((baseline, place))
        if family == baseline:
            continue
        for row in rows_of_family:
            p = p_of_rows(row, reference, scored, metric) if reference and reference.seeds else None
            p_values[group(row)] = p
    return p_values
