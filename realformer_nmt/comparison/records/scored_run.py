"""run.json of a cell, whose scores are to be drawn."""

from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.stage import AGAIN
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.run_record import Models, RecordedFile, RunRecord, Score


class ScoredRun(RunRecord, frozen=True, kw_only=True):
    """Record of a tested model with all that a report needs."""

    lines: int
    scores: dict[str, Score]
    models: Models
    files: dict[str, RecordedFile]


def read(path: Path) -> ScoredRun | None:
    """Read a run.json; return None if it does not exist yet, and refuse one with an unknown metric."""
    if not path.is_file():
        return None
    run = records.read(path, ScoredRun, AGAIN)
    unknown = [name for name in run.scores if name not in METRICS]
    if unknown:
        raise UserError(f"{path} has an unexpected format: scores has {unknown[0]!r}, which is no metric; {AGAIN}")
    return run
