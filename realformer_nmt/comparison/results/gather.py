"""results.json: everything measured, gathered from the cells' own records, whether all are done or not."""

import shlex
import statistics
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from msgspec import UNSET, to_builtins
from msgspec.structs import asdict
from msgspec.structs import replace as with_fields

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common import records
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.records import known
from realformer_nmt.common.stage_record import AGAIN
from realformer_nmt.common.versions import commit, versions
from realformer_nmt.comparison.grid import axes
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.grid.translation_scoring import TEST
from realformer_nmt.comparison.records.cell_note import WAITING
from realformer_nmt.comparison.records.cell_record import DAMAGED, CellRecord
from realformer_nmt.comparison.records.curves import Curves
from realformer_nmt.comparison.records.record_links import average_of, training_of
from realformer_nmt.comparison.results import analyses, best, setting_differences, summary, tuning_table
from realformer_nmt.comparison.results.cell_result import CellCurves, CellResult, CellScore
from realformer_nmt.comparison.results.examples import examples
from realformer_nmt.comparison.results.results_file import (
    Hardware,
    MetricColumn,
    ResultRow,
    Results,
    SignificanceTest,
    SubsetTable,
    TunedTable,
    metric_column,
)
from realformer_nmt.comparison.running import tuning_choice
from realformer_nmt.comparison.running.freshness import differences
from realformer_nmt.comparison.running.plan import commands
from realformer_nmt.evaluation.metric_table import LOSS, METRICS
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.evaluation.significance import TESTS
from realformer_nmt.protocols.command import layers, pasted
from realformer_nmt.tasks import TASKS


def gather(grid: Grid, corpus: CorpusChoice, cells: Sequence[Cell], command: Sequence[str]) -> Results:
    """Read the records of all cells and build the content of results.json."""
    cell_results = []
    for cell in cells:
        with expected(cell.folder, "use --fresh to redo it"):
            cell_results.append(describe(cell))
    runs = [run_of(cell) for cell in cells]
    first = first_of(runs)
    table = scored_on(grid, cells, cell_results, runs)
    return Results(
        name=grid.name,
        title=grid.title or grid.name,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        complete=all(CellRecord(cell).final for cell in cells),
        grid=grid.written,
        command=shlex.join(command),
        commit=commit(),
        versions=versions(),
        hardware=machines(cells),
        corpus=first.corpus or corpus.name,
        languages=list(corpus.pair()),
        metric=grid.drawn,
        baseline=baseline(grid),
        axes=list(grid.axes or {}),
        overrides=setting_differences.settings(cell_results, grid.axes or {}),
        versions_apart=setting_differences.versions(cell_results),
        test=significance_test(grid),
        published=first.published or [],
        unit=first.unit or "lines",
        cells=cell_results,
        subset=table.subset,
        lines=table.lines,
        metrics=[*table.metrics, metric_column(LOSS)],
        rows=table.rows,
        tuned=tuned(grid, cells, cell_results, table.rows),
        further=[further(grid, cells, cell_results, subset) for subset in grid.subsets[1:]],
        examples=examples(cells, runs),
        analyses=analyses.gather(cells[0].folder.parents[1], cells),
    )


def significance_test(grid: Grid) -> SignificanceTest:
    metric = scoring_of(grid.task).tested(grid.drawn)
    return SignificanceTest(name=TESTS[TEST], metric=metric, samples=summary.SAMPLES, correction="Holm")


def scored_on(
    grid: Grid, cells: Sequence[Cell], cell_results: Sequence[CellResult], runs: Sequence[RunRecord | None]
) -> SubsetTable:
    """Build the table of one test set; `cell_results` and `runs` are in the order of the cells."""
    first = first_of(runs)
    rows = summary.rows(cell_results, cells, grid.drawn, baseline(grid))
    return SubsetTable(
        subset=cells[0].subset,
        lines=known(first.lines),
        metrics=[scored_column(name, score.metric, runs) for name, score in first.scores.items()],
        rows=best.mark(rows, cells, grid.drawn),
    )


def first_of(runs: Sequence[RunRecord | None]) -> RunRecord:
    """Return the run of the first cell that has one."""
    return next((run for run in runs if run), RunRecord())


def scored_column(metric: str, label: str, runs: Sequence[RunRecord | None]) -> MetricColumn:
    """Return the column of a metric; it has several signatures where the seeds mask other words."""
    signatures = [run.scores[metric].signature for run in runs if run and metric in run.scores]
    return with_fields(metric_column(metric), label=label, signature=", ".join(dict.fromkeys(signatures)))


def tuned(
    grid: Grid, cells: Sequence[Cell], cell_results: Sequence[CellResult], rows: Sequence[ResultRow]
) -> TunedTable | None:
    """Build the table of each family with the values that suit it, where the grid asks for one."""
    if not grid.tune:
        return None
    trying = [result for result in cell_results if tuning_choice.tries(grid, result.seed)]
    best_rows = tuning_table.rows(rows, trying, cells, grid.drawn, baseline(grid), grid.tune)
    return TunedTable(axes=list(grid.tune), seeds=list(grid.tune_seeds or grid.seeds), rows=best_rows)


def further(grid: Grid, cells: Sequence[Cell], cell_results: Sequence[CellResult], subset: str) -> SubsetTable:
    """Build the table of the same trainings on another test set."""
    cells_on = [replace(cell, subset=subset) for cell in cells]
    runs = [run_of(cell) for cell in cells_on]
    rescored = [with_fields(result, scores=scores(run)) for result, run in zip(cell_results, runs, strict=True)]
    return scored_on(grid, cells_on, rescored, runs)


def baseline(grid: Grid) -> str:
    return grid.baseline or grid.families[0]


def run_of(cell: Cell) -> RunRecord | None:
    """Read a cell's run.json; return None where there is none, or where the cell's results are damaged."""
    if CellRecord(cell).state == DAMAGED or not cell.scores.is_file():
        return None
    return read_run(cell.scores)


def read_run(path: Path) -> RunRecord:
    """Read a run.json, whose scores must all be of known metrics."""
    run = records.read(path, RunRecord, AGAIN)
    for name in run.scores:
        if name not in METRICS:
            raise UserError(f"{path} has an unexpected format: scores has {name!r}, which is no metric; {AGAIN}")
    return run


def describe(cell: Cell) -> CellResult:
    """Read the records of a cell."""
    record, run = CellRecord(cell), run_of(cell)
    folder, note = cell.folder, record.note
    if record.breaks:  # no record is read where one is another cell's: this folder does not exist
        folder, note = cell.folder / "mixed", WAITING
    train, average = training_of(folder), average_of(folder)
    curves, cell_settings = Curves(folder, cell.task), settings(train, average, run)
    trained = train or TrainRecord()
    return CellResult(
        name=cell.name,
        family=cell.family,
        layers=list(layers(cell.layers, TASKS[cell.task].sides)),
        depth=cell.layers,
        seed=cell.seed,
        axes=axes.measured(cell.point, cell_settings),
        state=record.state,
        evidence=record.evidence,
        scores=scores(run),
        parameters=known(run.parameters) if run else None,
        tokens_a_second=speed(curves),
        hours=known(trained.wall_clock_hours),
        gpu_hours=known(trained.gpu_hours),
        started=note.sessions[0].started if note.sessions else None,
        finished=note.sessions[-1].finished if note.sessions else None,
        device=known(trained.device),
        host=note.machine.host if note.machine else None,
        commands=commands(cell),
        settings=cell_settings,
        versions=versions_of(trained, run),
        differences=differences(cell),
        fairseq_train=pasted(trained.command) if trained.command else None,
        unigram_entropy=note.unigram_entropy,
        curves=CellCurves(train=curves.train, valid=curves.valid),
        shortcuts=run.models[0].shortcuts or [] if run and run.models else [],
    )


def settings(train: TrainRecord | None, average: AverageRecord | None, run: RunRecord | None) -> dict[str, object]:
    """Return the settings that took effect in the stages run so far."""
    if train is None:
        return {}
    table = {**train.made_from.settings, "protocol": known(train.protocol)}
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
        name: CellScore(score=score.score, interval=known(score.interval)) for name, score in run.scores.items()
    }
    if run.validation_loss is not None:
        by_metric[LOSS] = CellScore(score=run.validation_loss)
    return by_metric


def speed(curves: Curves) -> float | None:
    """Return the median of the target tokens per second, without the first fifth of the points, the warm-up."""
    speeds = [point.tokens_a_second for point in curves.train if isinstance(point.tokens_a_second, float)]
    return statistics.median(speeds[len(speeds) // 5 :]) if speeds else None


def machines(cells: Sequence[Cell]) -> list[Hardware]:
    """Return each machine once, with the GPUs that its cells name."""
    by_host: dict[str, Hardware] = {}
    for cell in cells:
        machine = CellRecord(cell).note.machine
        if machine:
            hardware = by_host.setdefault(machine.host, Hardware(**asdict(machine)))
            training = training_of(cell.folder)
            device = training.device if training and training.device else "CPU"
            if device not in ("CPU", *hardware.gpus):
                hardware.gpus.append(device)
    return list(by_host.values())
