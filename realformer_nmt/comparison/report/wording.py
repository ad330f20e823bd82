"""How results.json's figures read, in the tables, in the plots and on the page."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from realformer_nmt.common.terminal import printable as printable
from realformer_nmt.comparison.axes import AXES
from realformer_nmt.comparison.axes import shown as shown_on
from realformer_nmt.comparison.groups import Place, place
from realformer_nmt.evaluation.metric_table import described
from realformer_nmt.evaluation.significance import shown, signed

Record = Mapping[str, Any]  # results.json, or a part of it

NOTHING = "\N{EN DASH}"
MARK = "\N{DAGGER}"  # of a row that other versions made
FAILED = ("diverged", "stuck")  # the model's failures; an "error" is the machine's


def by_size(records: Iterable[Record]) -> list[Record]:
    """Rows or cells, the shallow first, then by the axes; those of one place as they stand."""
    return sorted(records, key=lambda record: (sum(record["layers"]), record["layers"], [*point(record).values()]))


def point(record: Record) -> dict[str, float]:
    """Where it stands on the axes."""
    return dict(place(record)[1])


def deep(depth: str) -> str:
    return "1 layer" if depth == "1" else f"{depth} layers"


def placed(record: Record) -> str:
    """18 layers, lr 0.001: what its row is compared at."""
    return ", ".join([deep(record["depth"]), *(f"{name} {shown_on(value)}" for name, value in point(record).items())])


def short(record: Record) -> str:
    """18, lr 0.001."""
    return ", ".join([record["depth"], *(f"{name} {shown_on(value)}" for name, value in point(record).items())])


def places(results: Record) -> dict[Place, str]:
    """And how each reads, in order."""
    return {place(row): placed(row) for row in by_size(results["rows"])}


def depths(results: Record) -> dict[str, list[int]]:
    """The name of each depth and its layers, the shallow first."""
    return {row["depth"]: row["layers"] for row in by_size(results["rows"])}


def families(results: Record) -> list[str]:
    return list(dict.fromkeys(row["family"] for row in results["rows"]))


def test_sets(results: Record) -> list[Record]:
    """results.json once a test set, the one first that the plots are of."""
    return [results, *({**results, **table} for table in results.get("further", []))]


def scored_on(table: Record) -> str:
    return table["subset"] + (f", {counted(table)}" if table["lines"] else "")


def counted(table: Record) -> str:
    """1 sequence, 1,000 sequences."""
    unit = table.get("unit", "lines")
    return f"{table['lines']:,} {unit.removesuffix('s') if table['lines'] == 1 else unit}"


def metrics(results: Record) -> list[Record]:
    """The one that the grid chose to draw and to test comes first, even before any cell is scored in it."""
    name = results["metric"]
    scored = {metric["name"]: metric for metric in results["metrics"]}
    drawn = scored[name] if name in scored else described(name)
    return [drawn, *(metric for metric in results["metrics"] if metric["name"] != name)]


def drawn_metric(results: Record) -> Record:
    return metrics(results)[0]


def spread(score: Record) -> str:
    deviation = score["deviation"]
    return f"{score['mean']:.2f}" + ("" if deviation is None else f" ± {deviation:.2f}")


def interval(score: Record) -> str:
    """One training's score, and how far other sentences would move it."""
    return f"{score['score']:.2f}" + (f" ± {score['interval']:.2f}" if score.get("interval") else "")


def failure(states: Iterable[str]) -> str:
    """`failed (diverged)`, or nothing where no model failed."""
    kinds = [state for state in FAILED if state in set(states)]
    return f"failed ({', '.join(kinds)})" if kinds else ""


def fallen(row: Record) -> str:
    """`stuck, 1 of 3`: how the models of a row failed, and how many if not all."""
    kinds = failure(row["states"]).removeprefix("failed (").removesuffix(")")
    return kinds if row["failed"] in (0, len(row["states"])) else f"{kinds}, {row['failed']} of {len(row['states'])}"


def measured(row: Record, metric: str) -> str:
    return spread(row["scores"][metric]) if row["seeds"] and metric in row["scores"] else NOTHING


def quality(row: Record, metric: str) -> str:
    """Mean and deviation; of a row without a score, why it has none."""
    if (found := measured(row, metric)) != NOTHING:
        return found
    unfinished = dict.fromkeys(state for state in row["states"] if state not in ("done", *FAILED))
    return failure(row["states"]) or ", ".join(unfinished) or NOTHING


def seeds(row: Record) -> str:
    """How many trainings the mean is of, and what became of the others."""
    everything = len(row["states"])
    if row["seeds"] == everything:
        return str(everything)
    told = failure(row["states"]) if row["seeds"] else ""
    return f"{row['seeds']} of {everything}" + (f", {told}" if told else "")


def difference(row: Record, metric: str) -> str:
    found = (row["delta"] or {}).get(metric)
    return NOTHING if found is None else signed(found).replace("-", "\N{MINUS SIGN}")


def probability(row: Record) -> str:
    return NOTHING if row["p_holm"] is None else shown(row["p_holm"], row["p_is_bound"])


def millions(number: float | None) -> str:
    return NOTHING if number is None else f"{number / 1e6:,.{2 if number < 1e7 else 1}f} M"


def whole(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"


def hours(number: float | None) -> str:
    return NOTHING if number is None else f"{number:.2g}" if number < 1 else f"{number:,.1f}"


def finite(number: float | None) -> float:
    """What was not measured, or was no number, is a gap in a curve."""
    return number if number is not None and math.isfinite(number) else math.nan


def tested(results: Record) -> str:
    """What the differences and the p-values are, and what was not trained as the rest."""
    test = results["test"]
    label = next((found["label"] for found in results["metrics"] if found["name"] == test["metric"]), test["metric"])
    return (
        f"Mean ± deviation over seeds. "
        f"Differences are to {printable(results['baseline'])} of the same {alike(results)}. "
        f"p: {test['name']} of {label}, {test['samples']:,} samples, corrected for the number of tests "
        f"({test['correction']}); of several seeds the largest. It says whether the difference would hold on other "
        "sentences like these, the deviation whether it would hold after another training."
        + ("" if drawn_metric(results)["higher_is_better"] else f" Lower {drawn_metric(results)['label']} is better.")
        + "".join(f" {said}: {'; '.join(map(printable, told))}." for said, told in apart(results).items() if told)
    )


def tuned(results: Record) -> Record | None:
    """results.json with the rows alone that were chosen on the validation data, and what is said of them."""
    if not results.get("tuned"):
        return None
    names, rows = [AXES[name].label for name in results["tuned"]["axes"]], results["tuned"]["rows"]
    others = sum(row["tried"] for row in rows if row["family"] != results["baseline"])
    by = results["tuned"].get("seeds", [])  # which records of before do not say
    seeds = f"seed{'s' * (len(by) > 1)} {', '.join(map(str, by))}" if by else "seeds"
    told = (
        f"Of each family the {' and '.join(names)} with the lowest validation loss (mean over {seeds}). Differences on "
        f"the test set are to {printable(results['baseline'])} with its own; p is corrected for all "
        f"{others} settings of the other families that were tried."
    )
    title = f"Each family with its own {' and '.join(names)}"
    return {**results, "rows": rows, "tuned": None, "title": title, "told": told}


def alike(results: Record) -> str:
    """What the two sides of a difference share."""
    *others, last = ["depth", *(AXES[name].label for name in results.get("axes", []))]
    return f"{', '.join(others)} and {last}" if others else last


def apart(results: Record) -> dict[str, list[str]]:
    """What in the table is not as the rest of it."""
    return {
        "With settings of their own": results["overrides"],
        f"{MARK} Of another version": results.get("versions_apart", []),
        "Made otherwise than the grid asks for now": [
            f"{cell['name']} ({'; '.join(cell['differences'])})" for cell in results["cells"] if cell.get("differences")
        ],
    }
