"""The table family x depth x axes: means and deviations over seeds, differences to the baseline, and if they are real.

The test of a difference asks whether it would hold on other sentences; every seed of a family is tested against the
same seed of the baseline, and the largest p of them is reported: the difference is there at every seed or it is not
(Berger 1982's intersection-union test, whose level needs no correction). Holm's correction is over the whole table.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from realformer_nmt.comparison.cell import Cell
from realformer_nmt.comparison.groups import Group, group
from realformer_nmt.comparison.note import Note
from realformer_nmt.comparison.tasks import SCORINGS
from realformer_nmt.evaluation import significance

SAMPLES, SEED = 10_000, 12345
Record = dict[str, Any]


def rows(described: Sequence[Record], cells: Sequence[Cell], metric: str, baseline: str) -> list[Record]:
    """`described` is of results.json's cells, in the order of the cells."""
    groups: dict[Group, list[int]] = {}
    for number, record in enumerate(described):
        groups.setdefault(group(record), []).append(number)
    made = {own: row([described[number] for number in numbers]) for own, numbers in groups.items()}
    p_values = {
        (family, place): p
        for family, place in groups
        if family != baseline and (baseline, place) in groups
        for ours, theirs in [[[cells[n] for n in groups[one, place]] for one in (family, baseline)]]
        for p in [largest_p(ours, theirs, metric)]
        if p is not None
    }
    adjusted = dict(zip(p_values, significance.holm(list(p_values.values())), strict=True))
    for (family, place), found in made.items():
        against = made.get((baseline, place)) if family != baseline else None
        judged(found, against, p_values.get((family, place)), adjusted.get((family, place)))
    return list(made.values())


def judged(found: Record, against: Record | None, p: float | None, adjusted: float | None) -> None:
    """Adds the difference to a row, and whether it is real."""
    found["delta"] = differences(found, against) if against else None
    found["p"], found["p_holm"] = p, adjusted
    found["p_is_bound"] = p is not None and p <= 1 / (SAMPLES + 1) + 1e-12


def row(members: Sequence[Record]) -> Record:
    done = [member for member in members if member["state"] == "done"]
    names = dict.fromkeys(name for member in done for name in member["scores"])
    return {
        **{name: members[0][name] for name in ("family", "layers", "depth")},
        "axes": members[0].get("axes", {}),
        "cells": [member["name"] for member in members],
        "seeds": len(done),
        "failed": sum(member["state"] in ("stuck", "diverged") for member in members),
        "states": [member["state"] for member in members],
        "scores": {
            name: spread([member["scores"][name]["score"] for member in done if name in member["scores"]])
            for name in names
        },
        **{name: middle(members, name) for name in ("parameters", "tokens_a_second", "hours")},
    }


def spread(values: Sequence[float]) -> Record:
    """The deviation of a sample, s^2 = sum (x - mean)^2 / (n - 1)."""
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return {"mean": statistics.fmean(values), "deviation": deviation}


def middle(members: Sequence[Record], name: str) -> Any:
    values = [member[name] for member in members if member[name] is not None]
    return statistics.median(values) if values else None


def differences(found: Record, baseline: Record) -> Mapping[str, float] | None:
    both = [name for name in found["scores"] if name in baseline["scores"]]
    return {name: found["scores"][name]["mean"] - baseline["scores"][name]["mean"] for name in both} or None


def largest_p(ours: Sequence[Cell], theirs: Sequence[Cell], metric: str) -> float | None:
    """Over the seeds that both have done."""
    scored = {cell.seed: cell for cell in theirs if done(cell)}
    pairs = [(cell, scored[cell.seed]) for cell in ours if done(cell) and cell.seed in scored]
    found = [p_value(cell, other, metric) for cell, other in pairs]
    return max((p for p in found if p is not None), default=None)


def done(cell: Cell) -> bool:
    """A test set that the grid names since then is not scored yet."""
    return Note(cell).state == "done" and cell.scores.is_file()


def p_value(ours: Cell, theirs: Cell, metric: str) -> float | None:
    """None where the two were scored on other test sets."""
    return SCORINGS[ours.task].p_value(ours.scores, theirs.scores, metric, SAMPLES, SEED)
