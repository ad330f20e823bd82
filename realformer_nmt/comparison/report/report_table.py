"""Content of a table of the report: the rows of one test set, or those that were chosen on the validation data."""

from typing import NamedTuple

from realformer_nmt.comparison.grid.axes import AXES
from realformer_nmt.comparison.report.formatting import by_size, drawn_first, metrics, printable
from realformer_nmt.comparison.results.results_file import MetricColumn, ResultRow, Results, SubsetTable


class ReportTable(NamedTuple):
    """Rows of a table, the shallow first, with the metrics of its columns, the drawn one first."""

    results: Results
    title: str
    subset: str
    metrics: list[MetricColumn]
    rows: list[ResultRow]
    note: str = ""


class TextTable(NamedTuple):
    """A table in words, whatever it will be written as."""

    title: str  # empty where there is one test set
    heads: list[str]
    bodies: list[list[list[str]]]  # the words of each line, a body per depth
    sides: list[str]
    note: str = ""


def test_sets(results: Results) -> list[ReportTable]:
    """Return a table per test set, first the one that the plots show; the title is `test, 1,000 lines`."""
    scorings: list[Results | SubsetTable] = [results, *results.further]
    tables = []
    for scored in scorings:
        title = scored.subset + (f", {counted(scored.lines, results.unit)}" if scored.lines else "")
        columns = drawn_first(results.metric, scored.metrics)
        tables.append(ReportTable(results, title, scored.subset, columns, by_size(scored.rows)))
    return tables


def counted(lines: int, unit: str) -> str:
    """Return a number with its unit, `1 sequence` or `1,000 sequences`."""
    return f"{lines:,} {unit.removesuffix('s') if lines == 1 else unit}"


def tuned_table(results: Results) -> ReportTable | None:
    """Return the table of the rows that were chosen on the validation data, with a note that says how."""
    tuned = results.tuned
    if not tuned:
        return None
    names = " and ".join(AXES[name].label for name in tuned.axes)
    number = sum(row.tried or 0 for row in tuned.rows if row.family != results.baseline)
    over = f"seed{'s' * (len(tuned.seeds) > 1)} {', '.join(map(str, tuned.seeds))}" if tuned.seeds else "seeds"
    title, rows = f"Each family with its own {names}", by_size(tuned.rows)
    note = (
        f"Of each family the {names} with the lowest validation loss (mean over {over}). Differences on "
        f"the test set are to {printable(results.baseline)} with its own; p is corrected for all "
        f"{number} settings of the other families that were tried."
    )
    return ReportTable(results, title, results.subset, metrics(results), rows, note)
