"""Results of `realformer-nmt analyse` on the models of a comparison, and which of the papers' claims they support.

An analysis belongs to a comparison if it is in a folder within its folder (FOLDER/analysis), and if each of its models
is the averaged model of a cell, by its hash.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from realformer_nmt.analysis.analysis_record import AnalysedModel, AnalysisRecord
from realformer_nmt.analysis.claims import CLAIMS, TrainedModel, summary
from realformer_nmt.checkpoints.run_files import AVERAGE
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.json_records import expected
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.grid.axes import Point
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.results.results_file import AnalysisResult, ClaimResult

RECORD = "analysis.json"
AGAIN = "use `realformer-nmt analyse --fresh` to redo it"


def gather(folder: Path, cells: Sequence[CellState]) -> list[AnalysisResult]:
    """Return the analyses in a comparison's folder all of whose models are models of its cells."""
    averages = [(state.cell, state.average) for state in cells if not state.unreadable]
    by_digest = {each.outputs[AVERAGE].sha256: cell for cell, each in averages if each and AVERAGE in each.outputs}
    described = []
    for file in sorted(folder.glob(f"*/{RECORD}")):
        try:
            described.append(describe(file, by_digest))
        except UserError as error:
            print(printable(f"the report leaves out an analysis: {error}"), file=sys.stderr)
    return [analysis for analysis in described if analysis]


def describe(file: Path, by_digest: Mapping[str, Cell]) -> AnalysisResult | None:
    """Return what an analysis.json says of the claims; None if one of its models is no cell's."""
    record = records.read(file, AnalysisRecord, AGAIN)
    with expected(file, AGAIN):
        inputs = record.made_from.inputs
        models = []
        for model in record.models:
            cell = by_digest.get(inputs[f"{model.name}.pt"].sha256)
            if cell is None:
                return None
            models.append((cell, model))
        return AnalysisResult(
            folder=file.parent.name,
            cells=[cell.name for cell, _ in models],
            subset=str(record.made_from.settings["subset"]),
            figures=sorted(name for name in record.outputs if name.endswith(".svg") and (file.parent / name).is_file()),
            claims=list(supported(models)),
        )


def supported(models: Sequence[tuple[Cell, AnalysedModel]]) -> Iterator[ClaimResult]:
    """Check each claim among those of one depth and seed at one point of the axes."""
    groups: dict[tuple[str, int, Point], list[TrainedModel]] = {}
    for cell, model in models:
        groups.setdefault((cell.layers, cell.seed, cell.point), []).append(summary(model))
    for claim in CLAIMS:
        for trained in groups.values():
            for answer in claim.check(trained):
                yield ClaimResult(
                    paper=claim.paper, predicted=claim.predicted, measured=answer.measured, agrees=answer.agrees
                )
