"""The sentence on a comparison whose trainings were too short for any model to learn."""

from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.comparison.running.verdict import STILL_FALLS


def sentence(results: Results) -> str:
    """Return `all 12 ended; 120 updates are too few to tell: the losses still fall`; nothing unless all are stuck."""
    falling = [cell for cell in results.cells if STILL_FALLS in (cell.evidence or "")]
    if not falling or any(cell.state != "stuck" for cell in results.cells):
        return ""
    which = "the losses" if len(falling) == len(results.cells) else f"{len(falling)} losses"
    updates = max(map(last_update, falling))
    return f"all {len(results.cells)} ended; {updates:,} updates are too few to tell: {which} still fall"


def last_update(cell: CellResult) -> int:
    return max(point.update for point in (*cell.curves.train, *cell.curves.valid))
