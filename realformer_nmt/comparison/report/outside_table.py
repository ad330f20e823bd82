"""Table of the translations from elsewhere, beside the baseline at each place."""

from realformer_nmt.comparison.report.formatting import (
    NOTHING,
    difference,
    drawn_metric,
    interval,
    metrics,
    placed,
    printable,
    probability,
)
from realformer_nmt.comparison.report.report_table import TextTable
from realformer_nmt.comparison.results.results_file import MeanScore, MetricColumn, OutsideRow, ResultRow, Results
from realformer_nmt.evaluation import agreement


def outside_table(results: Results) -> TextTable | None:
    """Return the table; None if no such translation was named."""
    if not results.outside:
        return None
    drawn = drawn_metric(results)
    scored = [metric for metric in metrics(results) if metric.name in results.outside[0].scores]
    heads = ["translation", "at", *(metric.label for metric in scored)]
    heads += [f"{drawn.label} to {results.baseline}", "p (Holm)", agreement.HEAD]
    lines = [line(row, scored, drawn) for row in results.outside]
    return TextTable("Not trained here", heads, [lines], ["left", *["right"] * (len(heads) - 1)], note(results))


def line(row: OutsideRow, scored: list[MetricColumn], drawn: MetricColumn) -> list[str]:
    return [
        row.name,
        placed(row) if row.depth else NOTHING,
        *(interval(row.scores[metric.name]) for metric in scored),
        difference(row, drawn.name),
        probability(row),
        agreement.shown(agreement.agreement(drawn.name, drawn.signature, row.delta.get(drawn.name))) or NOTHING,
    ]


def note(results: Results) -> str:
    files = {row.name: f"{row.name} is {row.file} (sha256 {row.sha256[:16]})" for row in results.outside}
    return (
        f"Translations of {printable(results.subset)} that no model of this comparison made: "
        f"{printable('; '.join(files.values()))}. What they were trained on is not known here. Scores ± the 95 % "
        "interval over other sentences; p of several seeds is the largest, corrected for the tests of this table."
    )


def spreadsheet_rows(results: Results) -> list[ResultRow]:
    """Return the rows of such translations for a spreadsheet, where a row of the baseline gives them a place."""
    return [
        ResultRow(
            family=row.name,
            layers=row.layers,
            depth=row.depth,
            axes=row.axes,
            seeds=0,
            failed=0,
            states=["not trained here"],
            scores={name: MeanScore(mean=score.score, deviation=None) for name, score in row.scores.items()},
            delta=row.delta,
            p=row.p,
            p_holm=row.p_holm,
            p_is_bound=row.p_is_bound,
        )
        for row in results.outside
        if row.depth
    ]
