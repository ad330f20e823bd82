"""Result of one cell, read from the records in its folder."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import UNSET, to_builtins

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.model_description import ShortcutWeight
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.files.records import none_if_unset
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.cell_requests import commands
from realformer_nmt.comparison.records.cell_state import DAMAGED, CellState, read_run
from realformer_nmt.comparison.records.curves import CurvePoint, Curves
from realformer_nmt.comparison.results.cell_result import CellCurves, CellResult, CellScore
from realformer_nmt.evaluation.metrics.metric_table import LOSS
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.protocols.command import layers, pasted
from realformer_nmt.tasks import TASKS

POINTS = 60  # of a curve


def describe(state: CellState) -> CellResult:
    """Return the result of a cell by its records."""
    cell, run = state.cell, run_of(state, state.cell.subset)
    files = state
    if state.unreadable:  # so no record is read: there is no such folder
        files = CellState(replace(cell, folder=cell.folder / "unreadable"))
    record, trained = files.record, files.training or TrainRecord()
    cell_settings = settings(files.training, files.average, run)
    return CellResult(
        name=cell.name,
        family=cell.family,
        layers=list(layers(cell.layers, TASKS[cell.task].sides)),
        depth=cell.layers,
        seed=cell.seed,
        axes=dict(cell.point),
        state=state.state,
        evidence=state.evidence,
        scores=scores(run),
        parameters=none_if_unset(run.parameters) if run else None,
        tokens_a_second=speed(files.curves),
        hours=none_if_unset(trained.wall_clock_hours),
        gpu_hours=none_if_unset(trained.gpu_hours),
        started=record.sessions[0].started if record.sessions else None,
        finished=record.sessions[-1].finished if record.sessions else None,
        device=none_if_unset(trained.device),
        host=record.machine.host if record.machine else None,
        commands=commands(cell, trained.gpus),  # a report may be written on another machine
        settings=cell_settings,
        versions=versions_of(trained, run),
        differences=state.differences,
        fairseq_train=pasted(trained.command) if trained.command else None,
        unigram_entropy=record.unigram_entropy,
        curves=CellCurves(train=thinned(files.curves.train), valid=thinned(files.curves.valid)),
        shortcuts=trained_shortcuts(none_if_unset(run.models[0].shortcuts) or []) if run else [],
    )


def thinned(curve: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Return what a report draws of a curve: evenly spaced points, with the first and the last."""
    count = min(len(curve), POINTS)
    points = [curve[round(number * (len(curve) - 1) / max(1, count - 1))] for number in range(count)]
    return [CurvePoint(update=at.update, nll_loss=at.nll_loss, gnorm=at.gnorm, bleu=at.bleu) for at in points]


def trained_shortcuts(weights: Sequence[ShortcutWeight]) -> list[ShortcutWeight]:
    """Return the mean of ADMIN's w by sub-layer; nothing of a model whose shortcuts are constants."""
    is_trained = any(weight.smallest != weight.largest for weight in weights)
    return [ShortcutWeight(sublayer=weight.sublayer, mean=weight.mean) for weight in weights if is_trained]


def settings(train: TrainRecord | None, average: AverageRecord | None, run: RunRecord | None) -> dict[str, object]:
    """Return the settings that took effect in the stages run so far."""
    if train is None:
        return {}
    table = {**train.made_from.settings, "protocol": none_if_unset(train.protocol)}
    if average:
        table["averaging"] = average.made_from.settings
    if run:
        decoding = to_builtins(run.decoding) if run.decoding else run.decoding
        of_run = {"decoding": decoding, "corpus": run.corpus, "lines": run.lines}
        table |= {name: value for name, value in of_run.items() if value is not UNSET}
    return table


def versions_of(train: TrainRecord, run: RunRecord | None) -> dict[str, str]:
    """Return the versions of the packages that trained; those of several sessions are joined by commas."""
    by_package: dict[str, list[str]] = {}
    for session in train.sessions:
        for package, version in session.versions.items():
            by_package.setdefault(package, []).append(version)
    joined = {package: ", ".join(dict.fromkeys(several)) for package, several in by_package.items()}
    if run and run.commit:
        joined["commit"] = run.commit
    return joined


def scores(run: RunRecord | None) -> dict[str, CellScore]:
    """Return the scores by metric, and the validation loss."""
    if run is None:
        return {}
    by_metric = {
        name: CellScore(score=score.score, interval=none_if_unset(score.interval)) for name, score in run.scores.items()
    }
    if run.validation_loss is not None:
        by_metric[LOSS] = CellScore(score=run.validation_loss)
    return by_metric


def speed(curves: Curves) -> float | None:
    """Return the median of the target tokens per second, without the first fifth of the points, the warm-up."""
    speeds = [point.tokens_a_second for point in curves.train if isinstance(point.tokens_a_second, float)]
    return statistics.median(speeds[len(speeds) // 5 :]) if speeds else None


def run_of(state: CellState, subset: str) -> RunRecord | None:
    """Return a cell's scores on a subset; None if there are none, or if the cell's results are damaged."""
    if state.state == DAMAGED or (state.failed and state.damage):
        return None
    return state.run if subset == state.cell.subset else read_run(replace(state.cell, subset=subset).scores)


def scored_cells(states: Iterable[CellState], subset: str) -> list[Cell]:
    """Return the cells that are done and scored on a subset; one added to the grid later is not scored yet."""
    done = [replace(state.cell, subset=subset) for state in states if state.state == "done"]
    return [cell for cell in done if cell.scores.is_file()]
