"""Run of one cell from its training to its scores; an interrupted run goes on where it was.

A model that fails is a result, not an error. A stage that ends for another reason (disk, memory, a kill) is tried
again.
"""

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.checkpoints.run_files import DIVERGENCE
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.files.records import none_if_unset
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records.cell_record import CellLog
from realformer_nmt.comparison.records.cell_state import CellState, status_of
from realformer_nmt.comparison.records.curves import CurvePoint, Curves
from realformer_nmt.comparison.running import verdict
from realformer_nmt.comparison.running.process import Process
from realformer_nmt.comparison.running.renewal import void_scores_of
from realformer_nmt.comparison.running.verdict import Verdict
from realformer_nmt.tasks import TASKS

OUTPUT = "output.log"


class Progress(NamedTuple):
    state: str  # the stage it is in, or how it ended
    update: int = 0
    updates: int | None = None
    loss: float | None = None  # bits per token
    tokens_a_second: float | None = None


Watched = Generator[Progress, None, Verdict | None]


def run(cell: Cell, environment: Mapping[str, str]) -> Generator[Progress, None, None]:
    """Run a cell and yield its progress each time the caller asks; closing the generator ends its processes."""
    with locked(cell.lock, "runs"):
        state = CellState(cell)
        if state.is_finished:
            yield Progress(state.progress)
            return
        of_words = TASKS[cell.task].targets_are_words
        entropy = verdict.unigram_entropy(cell.data, *cell.languages) if of_words else None
        log = CellLog(cell)
        log.start(entropy)
        failure: Verdict | None = None
        for stage in cell.stages:
            status = status_of(stage)
            if not status.done:
                if not status.differences:  # with which the stage is refused
                    void_scores_of(cell, stage)
                end = yield from _run_stage(cell, stage, log, environment, entropy)
                if end:
                    if failure:  # of the model, which comes first
                        end = Verdict(failure.state, f"{failure.evidence}; {end.evidence}")
                    log.end(end.state, end.evidence)
                    yield Progress(CellState(cell).progress)
                    return
            if stage is cell.train:
                failure = _failure(cell, Curves(cell.folder, cell.task), entropy, ended=True)
                if failure and cell.failure.stop_early:
                    break
        if failure:
            log.end(failure.state, failure.evidence)
        else:
            log.end("done")
        yield Progress(CellState(cell).progress)


def _run_stage(
    cell: Cell, stage: CellStage[Any], log: CellLog, environment: Mapping[str, str], entropy: float | None
) -> Watched:
    """Run a stage, again after a fault; return None once it is done, or the verdict that ends the cell."""
    output = cell.folder / OUTPUT
    for attempt in range(cell.retries + 1):
        result = yield from _attempt(cell, stage, environment, entropy)
        if isinstance(result, Verdict):
            return result
        if result == 0:
            return None
        diverged = verdict.diverged(cell.checkpoints, [])
        if diverged:
            return diverged
        log.fault(f"{stage.name}, attempt {attempt + 1}: ended with status {result}: {last_line(output)}")
    return Verdict("error", f"{stage.name} ended with status {result}, see {output}: {last_line(output)}")


def _attempt(
    cell: Cell, stage: CellStage[Any], environment: Mapping[str, str], entropy: float | None
) -> Generator[Progress, None, Verdict | int]:
    """Run a stage once; return its exit status, or the verdict on a model that is stopped early."""
    (cell.checkpoints / DIVERGENCE).unlink(missing_ok=True)
    process = Process(stage.request.command()[1:], cell.folder / OUTPUT, {**os.environ, **environment})
    try:
        curves = Curves(cell.folder, cell.task)
        progress = _progress(cell, stage, curves)
        while (status := process.poll()) is None:
            yield progress
            if curves.grow():
                progress = _progress(cell, stage, curves)
                failure = _failure(cell, curves, entropy, ended=False) if cell.failure.stop_early else None
                if failure:
                    return failure
        return status
    finally:
        process.end()


def _failure(cell: Cell, curves: Curves, entropy: float | None, ended: bool) -> Verdict | None:
    train = curves.train
    return verdict.diverged(cell.checkpoints, train) or verdict.stuck(train, curves.valid, ended, entropy, cell.failure)


def _progress(cell: Cell, stage: CellStage[Any], curves: Curves) -> Progress:
    last = curves.train[-1] if curves.train else CurvePoint(update=0)
    training = CellState(cell).training or TrainRecord()
    return Progress(stage.name, last.update, none_if_unset(training.updates), last.nll_loss, last.tokens_a_second)


def last_line(output: Path) -> str:
    """Return the last line of an output that is not empty."""
    text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "(no output)")
