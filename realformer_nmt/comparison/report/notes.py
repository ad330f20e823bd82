"""Notes below the tables: what differences and p-values mean, and which cells were trained otherwise."""

from realformer_nmt.comparison.grid.axes import AXES
from realformer_nmt.comparison.report.formatting import MARK, drawn_metric, printable
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.evaluation.agreement import MEANING, fit


def tested(results: Results) -> str:
    """Return the note that explains differences and p-values, and names cells that were trained otherwise."""
    test, drawn = results.test, drawn_metric(results)
    labels = {metric.name: metric.label for metric in results.metrics}
    notes = "".join(
        f" {title}: {'; '.join(map(printable, lines))}." for title, lines in unequal(results).items() if lines
    )
    return (
        f"Mean ± deviation over seeds. "
        f"Differences are to {printable(results.baseline)} of the same {common_axes(results)}. "
        f"p: {test.name} of {labels.get(test.metric, test.metric)}, {test.samples:,} samples, corrected for the number "
        f"of tests ({test.correction}); of several seeds the largest. It says whether the difference would hold on "
        "other sentences like these, the deviation whether it would hold after another training."
        + (f" {MEANING}" if fit(drawn.name, drawn.signature) else "")
        + ("" if drawn.higher_is_better else f" Lower {drawn.label} is better.")
        + notes
    )


def common_axes(results: Results) -> str:
    """Return the names of what a row and its baseline share: depth and axes."""
    names = ["depth", *(AXES[name].label for name in results.axes)]
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]


def unequal(results: Results) -> dict[str, list[str]]:
    """Return the cells that were trained otherwise than the rest of the table, by title."""
    return {
        "With settings of their own": results.overrides,
        f"{MARK} Of another version": results.versions_apart,
        "Made otherwise than the grid asks for now": [
            f"{cell.name} ({'; '.join(cell.differences)})" for cell in results.cells if cell.differences
        ],
    }
