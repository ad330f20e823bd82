"""Columns of the table: their text for a reader, and their unrounded figures for a spreadsheet."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.comparison.grid.axes import AXES, shown
from realformer_nmt.comparison.report.formatting import (
    MARK,
    NOTHING,
    difference,
    duration,
    measured,
    millions,
    probability,
    quality,
    seeds,
    whole,
)
from realformer_nmt.comparison.report.power import best_rows, is_real
from realformer_nmt.comparison.report.provenance import of_other_versions, version
from realformer_nmt.comparison.report.report_table import ReportTable
from realformer_nmt.comparison.results.results_file import MetricColumn, ResultRow, Results, group
from realformer_nmt.evaluation import agreement
from realformer_nmt.evaluation.metrics.metric_table import LOSS

Figure = Callable[[ResultRow], str | Number | None]


class Column(NamedTuple):
    """Column of the report's tables and of table.csv."""

    head: str
    text: Callable[[ResultRow], str]
    figures: Mapping[str, Figure] = {}  # of the spreadsheet, by their names there
    align_left: bool = False
    mark: Callable[[ResultRow], str] = lambda _row: ""  # a class of the page's style


def columns(table: ReportTable) -> list[Column]:
    """Return the columns of a table: the metric that is drawn with its test, then the rest."""
    results, (drawn, *further) = table.results, table.metrics
    return [
        family_column(results),
        DEPTH,
        *map(axis_column, results.axes),
        score_column(drawn, quality, best_rows(table.rows, drawn.name)),
        SEEDS,
        *baseline_columns(results, drawn),
        *(score_column(metric, measured) for metric in further),
        *COST,
    ]


def figures(table: ReportTable) -> dict[str, Figure]:
    """Return the columns of the spreadsheet by name: the figures of a table's columns, and where a row is from."""
    of_columns = {name: figure for column in columns(table) for name, figure in column.figures.items()}
    return {**of_columns, "tried": lambda row: row.tried, "version": lambda row: version(row, table.results)}


def paper_columns(table: ReportTable) -> list[Column]:
    """Return the columns that the table of a paper has: sizes, scores, and the test of the drawn metric."""
    results, (drawn, *further) = table.results, table.metrics
    return [
        family_column(results),
        DEPTH,
        *map(axis_column, results.axes),
        PARAMETERS,
        score_column(drawn, quality),
        *baseline_columns(results, drawn)[:2],
        *(score_column(metric, measured) for metric in further if metric.name != LOSS),
    ]


def metric_columns(results: Results, metric: MetricColumn) -> list[Column]:
    """Return the columns of the page's table of one metric, whose rows are grouped by depth."""
    best = best_rows(results.rows, metric.name) if metric.name == results.metric else []
    return [
        family_column(results),
        score_column(metric, quality, best),
        *baseline_columns(results, metric),
        SEEDS,
        *COST,
    ]


def family_column(results: Results) -> Column:
    marked = of_other_versions(results)

    def say(row: ResultRow) -> str:
        return f"{row.family} {MARK}" if group(row) in marked else row.family

    return Column("family", say, {"family": lambda row: row.family}, align_left=True)


def axis_column(name: str) -> Column:
    return Column(AXES[name].label, lambda row: shown(row.axes[name]), {name: lambda row: row.axes[name]})


def score_column(metric: MetricColumn, say: Callable[[ResultRow, str], str], best: Sequence[ResultRow] = ()) -> Column:
    """Return the column of a metric, in which the best rows are marked."""
    name = metric.name

    def mark(row: ResultRow) -> str:
        if row.seeds and name in row.scores:
            return "best" if row in best else ""
        return "failed" if row.failed else "unscored"

    figures: dict[str, Figure] = {
        f"{name}_mean": lambda row: row.scores[name].mean if name in row.scores else None,
        f"{name}_deviation": lambda row: row.scores[name].deviation if name in row.scores else None,
        f"{name}_difference": lambda row: (row.delta or {}).get(name),
    }
    return Column(metric.label, lambda row: say(row, name), figures, mark=mark)


def baseline_columns(results: Results, metric: MetricColumn) -> list[Column]:
    """Return the columns of the difference to the baseline, with p for the metric that is tested."""

    def say(row: ResultRow) -> str:
        return "baseline" if row.family == results.baseline else difference(row, metric.name)

    to_baseline = Column(f"to {results.baseline}", say)
    if metric.name != results.metric:
        return [to_baseline]
    return (
        [to_baseline, P, agreement_column(metric)] if agreement.fit(metric.name, metric.signature) else [to_baseline, P]
    )


def agreement_column(metric: MetricColumn) -> Column:
    """Return the column of how often people see such a difference as the metric does."""

    def figure(row: ResultRow) -> Number | None:
        return agreement.agreement(metric.name, metric.signature, (row.delta or {}).get(metric.name))

    return Column(agreement.HEAD, lambda row: agreement.shown(figure(row)) or NOTHING, {"people_agree": figure})


DEPTH = Column(
    "depth",
    lambda row: row.depth,
    {
        "depth": lambda row: row.depth,
        "encoder_layers": lambda row: row.layers[0],
        "decoder_layers": lambda row: row.layers[1],
    },
    align_left=True,
)
P = Column(
    "p (Holm)",
    probability,
    {"p": lambda row: row.p, "p_holm": lambda row: row.p_holm, "p_is_bound": lambda row: row.p_is_bound},
    mark=lambda row: "real" if is_real(row) else "",
)
SEEDS = Column(
    "seeds",
    seeds,
    {"seeds": lambda row: row.seeds, "failed": lambda row: row.failed, "states": lambda row: " ".join(row.states)},
)
PARAMETERS = Column("parameters", lambda row: millions(row.parameters), {"parameters": lambda row: row.parameters})
COST = [
    PARAMETERS,
    Column("tokens/s", lambda row: whole(row.tokens_a_second), {"tokens_a_second": lambda row: row.tokens_a_second}),
    Column("time", lambda row: duration(row.hours), {"hours": lambda row: row.hours}),
]
