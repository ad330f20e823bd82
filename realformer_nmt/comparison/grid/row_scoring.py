"""Scoring of models that do not translate: their data-bin, their last stage, and the test of a difference."""

from pathlib import Path

from realformer_nmt.checkpoints.run_files import AVERAGE
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.stage import AGAIN
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import CellStage, Stages, of_subset
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import Scoring
from realformer_nmt.data_bins import subsets, targets
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.p_values import SeedDifference
from realformer_nmt.evaluation.rows import row_table
from realformer_nmt.evaluation.rows.evaluate import EvaluateRequest
from realformer_nmt.evaluation.rows.resampling import exchanged, randomised
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.questions import squad
from realformer_nmt.tasks import TASKS


def find(grid: Grid, request: CompareRequest) -> CorpusChoice:
    """Return the data-bin of `fairseq-preprocess --only-source`, or the folder of several."""
    shares = (grid.axes or {}).get("data")
    unsuitable = {"corpus": grid.corpus, "[data]": grid.data, "the axis data": shares, "--archives": request.archives}
    for name, value in unsuitable.items():
        if value:
            raise UserError(
                f"{grid.name}.toml: {name} is for translations, and the task is {grid.task}: leave it out, "
                "and name the data-bin by prepared, or by --prepared DIR"
            )
    if (request.prepared is None) == (grid.prepared is None):
        advice = "names no data-bin: pass" if request.prepared is None else "says prepared: leave out"
        raise UserError(f"{grid.name}.toml {advice} --prepared DIR, the data-bin of task {grid.task}")
    data = request.prepared or grid.path(grid.prepared or "")
    return CorpusChoice(data.resolve().name, data, task=grid.task)


def check(corpus: CorpusChoice, subset: str) -> None:
    subsets.count(corpus.data, subset, *corpus.pair())


def check_labelled(corpus: CorpusChoice, subset: str) -> None:
    subsets.count(corpus.data / "input0", subset)
    targets.check_labels(corpus.data, subset)


def check_questions(corpus: CorpusChoice, subset: str) -> None:
    path = corpus.data / f"{subset}.json"
    squad.check_in_place(path, squad.read(path))


def stages(grid: Grid, corpus: CorpusChoice, folder: Path, _: Protocol, subset: str) -> Stages:
    """Return how a subset is measured; the first one's stage measures the validation loss, too."""
    first, record = subset == grid.subsets[0], of_subset(folder, "run", subset, ".json")
    request = EvaluateRequest(
        checkpoint=folder / AVERAGE,
        data=corpus.data,
        subset=subset,
        output=record,
        validate=first,
        mask_seed=TASKS[grid.task].mask_seed,
    )
    return (CellStage("evaluate" if first else f"evaluate {subset}", request, record),)


def compare(candidate: Path, baseline: Path, metric: str, samples: int, seed: int) -> SeedDifference | None:
    """Return the difference of two runs with its p; None if their targets differ: other text, or other words masked."""
    candidate_run, baseline_run = (records.read(path, RunRecord, AGAIN) for path in (candidate, baseline))
    if candidate_run.targets != baseline_run.targets:
        return None
    candidate_rows = row_table.read(candidate, candidate_run)
    baseline_rows = row_table.read(baseline, baseline_run)
    part, figure = METRICS[metric].part, METRICS[metric].figure
    if part:
        differences = part(candidate_rows) - part(baseline_rows)
        return SeedDifference(float(differences.sum()), randomised(differences, samples, seed))
    if figure is None:
        return None
    difference = float(figure(candidate_rows) - figure(baseline_rows))
    return SeedDifference(difference, exchanged(candidate_rows, baseline_rows, figure, samples, seed))


MEASURED = Scoring(find, stages, compare)
