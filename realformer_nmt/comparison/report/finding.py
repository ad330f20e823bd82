"""Finding of a comparison in one sentence: who learns, and who leads beyond chance at which depth.

Two p-values of results.json say what is beyond chance: `p_best`, against the best row of the table, and `p_holm`,
against the baseline at the same place. Where neither compares a leader with the rest, the sentence does not either.
"""

from collections.abc import Sequence

from realformer_nmt.comparison.grid.axes import Place, shown
from realformer_nmt.comparison.records.curves import TOO_SHORT
from realformer_nmt.comparison.report.formatting import by_size, either
from realformer_nmt.comparison.report.power import best_rows, is_real, scored
from realformer_nmt.comparison.report.report_table import counted
from realformer_nmt.comparison.results.default_title import layers, listed
from realformer_nmt.comparison.results.results_file import ResultRow, Results
from realformer_nmt.comparison.results.summary import ranked
from realformer_nmt.comparison.running.tuning_choice import untuned_place

MOST_CLAUSES = 4  # on who leads; the table has the rest
NO_LEADER = "no family leads beyond chance"
ONE_SEED = "each model has one seed, which shows nothing beyond that seed"


def finding(results: Results) -> str:
    """Return the sentence; there is none before all cells are done, for a leader may still change."""
    rows = by_size(results.tuned.rows if results.tuned else results.rows)
    if not results.complete or not rows:
        return ""
    if all(row.states == [TOO_SHORT] * len(row.states) for row in rows):
        return too_short(results)
    tuned = results.tuned.axes if results.tuned else []
    clauses = [learning(rows, tuned), *leaders(results, rows, tuned)]
    if max(row.seeds for row in rows) == 1:
        clauses.append(ONE_SEED)
    sentence = "; ".join(clauses)
    return f"{sentence[0].upper()}{sentence[1:]}."


def too_short(results: Results) -> str:
    """Return the sentence where no model has learned yet, and all still do."""
    number = len(results.cells)
    updates = either({cell.curves.updates for cell in results.cells})
    return (
        f"{number} of {number} trainings ended; {updates} updates are too few to tell which family learns: "
        "the losses still fall."
    )


def learning(rows: Sequence[ResultRow], tuned: Sequence[str]) -> str:
    """Return `every family learns, except post_ln at 18 layers`."""
    if not any(row.seeds for row in rows):
        return "no family learns"
    failures: dict[str, list[ResultRow]] = {}
    for row in rows:
        if row.failed:
            part = "" if row.failed == len(row.states) else f" ({row.failed} of {len(row.states)} trainings)"
            failures.setdefault(f"{row.family}{part}", []).append(row)
    failed = [f"{name} at {located(of_family, tuned)}" for name, of_family in failures.items()]
    return "every family learns" + (f", except {listed(failed)}" if failed else "")


def leaders(results: Results, rows: Sequence[ResultRow], tuned: Sequence[str]) -> list[str]:
    """Return a clause for each outcome with its places; a place with one score has none."""
    places: dict[Place, list[ResultRow]] = {}
    for row in scored(rows, results.metric):
        places.setdefault(untuned_place(row.depth, row.axes.items(), tuned), []).append(row)
    outcomes: dict[str, list[ResultRow]] = {}
    for at_place in places.values():
        if len(at_place) > 1:
            first, *rest = ranked(at_place, results.metric)
            outcomes.setdefault(outcome(results, first, rest), []).append(first)
    if [*outcomes] == [NO_LEADER] and not tuned and not best_rows(rows, results.metric):
        return [nothing_told(results, rows)]
    clauses = [f"at {located(firsts, tuned)} {text}" for text, firsts in outcomes.items()]
    hidden = len(clauses) - MOST_CLAUSES
    return clauses[:MOST_CLAUSES] + ([f"{hidden} more outcomes are in the table"] if hidden > 0 else [])


def outcome(results: Results, first: ResultRow, rest: Sequence[ResultRow]) -> str:
    """Return whether the best row of a place leads beyond chance; if not, whom it does not lead."""
    best, *_ = ranked(scored(results.rows, results.metric), results.metric)  # to which `p_best` compares
    if results.tuned is None and first == best:
        close = [row.family for row in rest if row.best]
    elif first.family == results.baseline:
        close = [row.family for row in rest if not is_real(row)]
    elif first.p_holm is None:
        return f"{first.family} is best, which is not tested"
    elif is_real(first):
        return f"{first.family} leads {results.baseline} beyond chance"
    else:
        return NO_LEADER
    if not close:
        return f"{first.family} leads beyond chance"
    if len(close) == len(rest):
        return NO_LEADER
    return f"{first.family} is best, but {listed(close)} {'is' if len(close) == 1 else 'are'} not significantly worse"


def nothing_told(results: Results, rows: Sequence[ResultRow]) -> str:
    """Return the clause of a table whose scores the test set does not tell apart."""
    means = [row.scores[results.metric].mean for row in scored(rows, results.metric)]
    size = counted(results.lines, results.unit) if results.lines else "this test set"
    return (
        f"which is best cannot be told from {size}: the scores, {min(means):.2f} to {max(means):.2f}, are not shown to "
        "differ"
    )


def located(rows: Sequence[ResultRow], tuned: Sequence[str]) -> str:
    """Return the places of rows: `6 and 18 layers`, or `6 layers (lr 0.001) and 6 layers (lr 0.002)`."""
    points = [[f"{name} {shown(value)}" for name, value in row.axes.items() if name not in tuned] for row in rows]
    if not any(points):
        return layers([row.depth for row in rows])
    return listed([f"{layers([row.depth])} ({', '.join(point)})" for row, point in zip(rows, points, strict=True)])
