"""Which rows of the table are the best: the one with the best mean, and all that are not significantly worse."""

from collections.abc import Sequence
from typing import Any

from realformer_nmt.comparison.cell import Cell
from realformer_nmt.comparison.groups import group
from realformer_nmt.comparison.summary import largest_p
from realformer_nmt.evaluation.metric_table import METRICS
from realformer_nmt.evaluation.significance import ALPHA, holm

Record = dict[str, Any]


def mark(rows: Sequence[Record], cells: Sequence[Cell], metric: str) -> list[Record]:
    """With `best`, and with `p_best`: of the difference to the best mean, Holm's correction over all rows. Two that
    share no seed cannot be told apart."""
    scored = ranked([row for row in rows if row["seeds"] and metric in row["scores"]], metric)
    first = scored[0] if scored else None
    tested = {
        group(row): p
        for row in scored
        if first and row is not first
        for p in [largest_p(members(row, cells), members(first, cells), metric)]
        if p is not None
    }
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    found = [{**row, "p_best": adjusted.get(group(row))} for row in rows]
    names = set(map(group, scored))
    return [{**row, "best": group(row) in names and (row["p_best"] is None or row["p_best"] >= ALPHA)} for row in found]


def ranked(rows: Sequence[Record], metric: str) -> list[Record]:
    """By their means, the best first."""
    return sorted(rows, key=lambda row: row["scores"][metric]["mean"], reverse=METRICS[metric].higher_is_better)


def members(row: Record, cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.name in row["cells"]]
