"""Each family with its own best value of some axes: chosen on the validation data, compared on the test set.

p is of the chosen setting against the baseline's chosen one. Holm's correction is over every setting that was tried,
not over the chosen ones alone, so that many tries buy nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from realformer_nmt.comparison.cell import Cell
from realformer_nmt.comparison.choice import left, lowest, mean
from realformer_nmt.comparison.groups import Group, group
from realformer_nmt.comparison.summary import judged, largest_p
from realformer_nmt.evaluation.metric_table import LOSS
from realformer_nmt.evaluation.significance import holm

Record = dict[str, Any]


def rows(
    table: Sequence[Record],
    described: Sequence[Record],
    cells: Sequence[Cell],
    metric: str,
    baseline: str,
    tune: Sequence[str],
) -> list[Record]:
    """`table` is that of all settings; one row a family, depth and point of the other axes, with `tried`. `described`
    are the cells of results.json whose losses choose."""
    losses = {record["name"]: loss(record) for record in described}
    tried: dict[Group, list[Record]] = {}
    for row in table:
        tried.setdefault((row["family"], left(row["depth"], row["axes"].items(), tune)), []).append(row)
    chosen = {own: choose(candidates, losses) for own, candidates in tried.items()}
    p_values = dict(tests(tried, chosen, cells, metric, baseline))
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    made = []
    for (family, place), row in chosen.items():
        found = {**row, "best": False, "p_best": None, "tried": len(tried[family, place])}
        against = chosen.get((baseline, place)) if family != baseline else None
        judged(found, against, p_values.get(group(row)), adjusted.get(group(row)))
        made.append(found)
    return made


def loss(record: Record) -> float | None:
    found: float | None = record["scores"].get(LOSS, {}).get("score") if record["state"] == "done" else None
    return found


def choose(candidates: Sequence[Record], losses: Mapping[str, float | None]) -> Record:
    """The lowest validation loss, the mean over seeds, of the settings with which every training came to its end."""
    means = [mean([losses[name] for name in row["cells"] if name in losses]) for row in candidates]
    best = lowest(dict(enumerate(means)))
    if best is not None:
        return candidates[best]
    states = [state for row in candidates for state in row["states"]]
    failed = sum(row["failed"] for row in candidates)
    return {**candidates[0], "seeds": 0, "failed": failed, "states": states, "scores": {}}


def tests(
    tried: dict[Group, list[Record]], chosen: dict[Group, Record], cells: Sequence[Cell], metric: str, baseline: str
) -> Iterator[tuple[Group, float]]:
    """Every setting against the baseline's chosen one."""
    for (family, place), candidates in tried.items():
        against = chosen.get((baseline, place))
        if family == baseline or against is None or not against["seeds"]:
            continue
        for row in candidates:
            ours, theirs = ([cell for cell in cells if cell.name in own["cells"]] for own in (row, against))
            p = largest_p(ours, theirs, metric)
            if p is not None:
                yield group(row), p
