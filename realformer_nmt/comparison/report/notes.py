"""Notes below the tables: what differences and p-values mean, and which cells were trained otherwise."""

from realformer_nmt.comparison.grid.axes import AXES
from realformer_nmt.comparison.report.formatting import MARK, drawn_metric, printable
from realformer_nmt.comparison.report.power import smallest_significant
from realformer_nmt.comparison.report.report_table import counted
from realformer_nmt.comparison.results.default_title import listed
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.evaluation.agreement import MEANING, fit
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.p_values import ALPHA


def notes(results: Results) -> list[str]:
    """Return the notes on differences and p-values, and the cells that were trained otherwise."""
    test, drawn = results.test, drawn_metric(results)
    shared = ["depth", *(AXES[name].label for name in results.axes)]  # by a row and its baseline
    lines = [
        f"Differences are to {printable(results.baseline)} of the same {listed(shared)}.",
        "± is the deviation over seeds: would the score hold after another training?",
        f"p ({test.name} of {METRICS[test.metric].label}, {test.samples:,} samples): would the difference "
        f"hold on other sentences like these? It is corrected for the number of tests ({test.correction}), and of "
        "several seeds the largest.",
    ]
    smallest = smallest_significant(results.rows, test.metric)
    if smallest and results.lines:
        size = counted(results.lines, results.unit)
        rounded = float(f"{smallest:.2g}")
        lines.append(f"With {size}, a difference from about {rounded:g} on is significant (p < {ALPHA}).")
    if fit(drawn.name, drawn.signature):
        lines.append(MEANING)
    if not drawn.higher_is_better:
        lines.append(f"Lower {drawn.label} is better.")
    unequal = {
        "With settings of their own": results.overrides,
        f"{MARK} Of another version": results.versions_apart,
        "Made otherwise than the grid asks for now": [
            f"{cell.name} ({'; '.join(cell.differences)})" for cell in results.cells if cell.differences
        ],
    }
    return lines + [f"{title}: {'; '.join(map(printable, texts))}." for title, texts in unequal.items() if texts]
