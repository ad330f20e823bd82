"""The columns of the table: each as a reader sees it, and as a spreadsheet takes it, unrounded."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from realformer_nmt.comparison.axes import AXES, shown
from realformer_nmt.comparison.groups import group
from realformer_nmt.comparison.report.made import named, version
from realformer_nmt.comparison.report.wording import (
    Record,
    difference,
    hours,
    measured,
    metrics,
    millions,
    probability,
    quality,
    seeds,
    whole,
)
from realformer_nmt.evaluation.significance import ALPHA

Of = Callable[[Record], Any]  # a row


class Column(NamedTuple):
    head: str | None  # None: of the spreadsheet alone
    text: Callable[[Record], str] = str
    figures: Mapping[str, Of] = {}  # of the spreadsheet, by their names there
    words: bool = False  # the others hold figures
    mark: Callable[[Record], str] = lambda _row: ""  # a class of the page's style


def columns(results: Record) -> list[Column]:
    """Of the tables: the metric that is drawn with its test, then the others."""
    drawn, *others = metrics(results)
    return [
        family(results),
        Column("depth", itemgetter("depth"), {"depth": itemgetter("depth"), **layers()}, words=True),
        *map(axis, results.get("axes", [])),
        score(results, drawn, quality),
        SEEDS,
        *compared(results, drawn),
        *(score(results, metric, measured) for metric in others),
        *COST,
        *([chosen(results["tuned"]["rows"])] if results.get("tuned") else []),
        Column(None, figures={"version": lambda row: version(row, results)}),
    ]


def pane(results: Record, metric: Record) -> list[Column]:
    """Of the page's table of one metric, whose rows are grouped by depth."""
    return [family(results), score(results, metric, quality), *compared(results, metric), SEEDS, *COST]


def family(results: Record) -> Column:
    return Column("family", lambda row: named(row, results), {"family": itemgetter("family")}, words=True)


def chosen(rows: Sequence[Record]) -> Column:
    """Whether its setting is the family's own, of those that were tried."""
    own = [group(row) for row in rows if row["seeds"]]
    return Column(None, figures={"chosen": lambda row: int(group(row) in own)})


def axis(name: str) -> Column:
    return Column(AXES[name].label, lambda row: shown(row["axes"][name]), {name: lambda row: row["axes"][name]})


def layers() -> dict[str, Of]:
    return {"encoder_layers": lambda row: row["layers"][0], "decoder_layers": lambda row: row["layers"][1]}


def score(results: Record, metric: Record, say: Callable[[Record, str], str]) -> Column:
    """What is best is known of the metric that is drawn."""
    name = metric["name"]

    def mark(row: Record) -> str:
        if row["seeds"] and name in row["scores"]:
            return "best" if row["best"] and name == results["metric"] else ""
        return "failed" if row["failed"] else "unscored"

    figures: dict[str, Of] = {
        f"{name}_mean": lambda row: row["scores"].get(name, {}).get("mean"),
        f"{name}_deviation": lambda row: row["scores"].get(name, {}).get("deviation"),
        f"{name}_difference": lambda row: (row["delta"] or {}).get(name),
    }
    return Column(metric["label"], lambda row: say(row, name), figures, mark=mark)


def compared(results: Record, metric: Record) -> list[Column]:
    """To the baseline; one metric is tested."""

    def say(row: Record) -> str:
        return "baseline" if row["family"] == results["baseline"] else difference(row, metric["name"])

    test = {name: itemgetter(name) for name in ("p", "p_holm", "p_is_bound")}
    p = Column("p (Holm)", probability, test, mark=real)
    return [Column(f"to {results['baseline']}", say), *([p] if metric["name"] == results["metric"] else [])]


def real(row: Record) -> str:
    return "real" if row["p_holm"] is not None and row["p_holm"] < ALPHA else ""


SEEDS = Column(
    "seeds",
    seeds,
    {"seeds": itemgetter("seeds"), "failed": itemgetter("failed"), "states": lambda row: " ".join(row["states"])},
)


def cost(head: str, name: str, say: Callable[[float | None], str]) -> Column:
    return Column(head, lambda row: say(row[name]), {name: itemgetter(name)})


COST = [
    cost("parameters", "parameters", millions),
    cost("tokens/s", "tokens_a_second", whole),
    cost("hours", "hours", hours),
]
