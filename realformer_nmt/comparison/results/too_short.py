"""Results of trainings that are too short as a report shows them: no model failed."""

from collections.abc import Sequence

from msgspec.structs import replace

from realformer_nmt.comparison.records.curves import TOO_SHORT, all_too_short
from realformer_nmt.comparison.results.results_file import ResultRow, Results


def restated(results: Results) -> Results:
    """Return the results as a report shows them: where all models are stuck and all losses still fall, none failed."""
    if not all_too_short([(cell.state, cell.curves.train) for cell in results.cells]):
        return results
    tuned = results.tuned
    return replace(
        results,
        cells=[replace(cell, state=TOO_SHORT) for cell in results.cells],
        rows=unfailed(results.rows),
        further=[replace(table, rows=unfailed(table.rows)) for table in results.further],
        tuned=replace(tuned, rows=unfailed(tuned.rows)) if tuned else None,
    )


def unfailed(rows: Sequence[ResultRow]) -> list[ResultRow]:
    return [replace(row, failed=0, states=[TOO_SHORT] * len(row.states)) for row in rows]
