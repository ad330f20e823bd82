"""results.json: everything measured, gathered from the cells' own records, whether all are done or not."""

import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from msgspec import convert
from msgspec.structs import replace as with_fields

from realformer_nmt.common.json_records import expected
from realformer_nmt.common.provenance import MADE_FROM
from realformer_nmt.common.versions import commit, versions
from realformer_nmt.comparison.grid import axes
from realformer_nmt.comparison.grid.cell import Cell, read
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.grid.translation_scoring import TEST
from realformer_nmt.comparison.records import run_record
from realformer_nmt.comparison.records.cell_record import DAMAGED, CellRecord
from realformer_nmt.comparison.records.curves import Curves
from realformer_nmt.comparison.results import analyses, best, setting_differences, summary, tuning_table
from realformer_nmt.comparison.results.cell_result import CellCurves, CellResult, CellScore, CurvePoint, ShortcutWeight
from realformer_nmt.comparison.results.examples import examples
from realformer_nmt.comparison.results.results_file import (
    Hardware,
    MetricColumn,
    PublishedFigure,
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
from realformer_nmt.evaluation.metric_table import LOSS
from realformer_nmt.evaluation.significance import TESTS
from realformer_nmt.protocols.command import layers, pasted
from realformer_nmt.tasks import TASKS

Record = Mapping[str, Any]  # run.json, train.json or average.pt.json of a cell


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
        corpus=first.get("corpus") or corpus.name,
        languages=list(corpus.pair()),
        metric=grid.drawn,
        baseline=baseline(grid),
        axes=list(grid.axes or {}),
        overrides=setting_differences.settings(cell_results, grid.axes or {}),
        versions_apart=setting_differences.versions(cell_results),
        test=significance_test(grid),
        published=convert(first.get("published") or [], list[PublishedFigure]),
        unit=first.get("unit") or "lines",
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
    grid: Grid, cells: Sequence[Cell], cell_results: Sequence[CellResult], runs: Sequence[Record]
) -> SubsetTable:
    """Build the table of one test set; `cell_results` and `runs` are in the order of the cells."""
    first = first_of(runs)
    scores = first.get("scores", {}).items()
    rows = summary.rows(cell_results, cells, grid.drawn, baseline(grid))
    return SubsetTable(
        subset=cells[0].subset,
        lines=first.get("lines"),
        metrics=[scored_column(name, score["metric"], runs) for name, score in scores],
        rows=best.mark(rows, cells, grid.drawn),
    )


def first_of(runs: Sequence[Record]) -> Record:
    """Return the run of the first cell that has one."""
    return next((run for run in runs if run), {})


def scored_column(metric: str, label: str, runs: Sequence[Record]) -> MetricColumn:
    """Return the column of a metric; it has several signatures where the seeds mask other words."""
    signatures = [run["scores"][metric]["signature"] for run in runs if metric in run.get("scores", {})]
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


def run_of(cell: Cell) -> Record:
    """Read a cell's run.json; return nothing for a cell whose results are damaged."""
    return {} if CellRecord(cell).state == DAMAGED else run_record.read(cell.scores)


def describe(cell: Cell) -> CellResult:
    """Read the records of a cell."""
    note, run = CellRecord(cell), run_of(cell)
    folder, content = cell.folder, note.content
    if note.breaks:  # no record is read where one is another cell's: this folder does not exist
        folder, content = cell.folder / "mixed", {}
    train, average = read(folder / "train.json"), read(folder / "average.pt.json")
    curves, cell_settings = Curves(folder, cell.task), settings(train, average, run)
    sessions = content.get("sessions")
    shortcuts = run["models"][0].get("shortcuts", []) if run else []
    return CellResult(
        name=cell.name,
        family=cell.family,
        layers=list(layers(cell.layers, TASKS[cell.task].sides)),
        depth=cell.layers,
        seed=cell.seed,
        axes=axes.measured(cell.point, cell_settings),
        state=note.state,
        evidence=note.evidence,
        scores=scores(run),
        parameters=run.get("parameters"),
        tokens_a_second=speed(curves),
        hours=train.get("wall_clock_hours"),
        gpu_hours=train.get("gpu_hours"),
        started=sessions[0]["started"] if sessions else None,
        finished=sessions[-1]["finished"] if sessions else None,
        device=train.get("device"),
        host=content.get("machine", {}).get("host"),
        commands=commands(cell),
        settings=cell_settings,
        versions=versions_of(train, run),
        differences=differences(cell),
        fairseq_train=pasted(train["command"]) if "command" in train else None,
        unigram_entropy=content.get("unigram_entropy"),
        curves=CellCurves(train=points(curves.train), valid=points(curves.valid)),
        shortcuts=convert(shortcuts, list[ShortcutWeight]),
    )


def points(logged: Sequence[Record]) -> list[CurvePoint]:
    return [CurvePoint(**point) for point in logged]


def settings(train: Record, average: Record, run: Record) -> dict[str, Any]:
    """Return the settings that took effect in the stages run so far."""
    if not train:
        return {}
    of_stages = {**train.get(MADE_FROM, {}).get("settings", {}), "protocol": train.get("protocol")}
    if average:
        of_stages["averaging"] = average[MADE_FROM]["settings"]
    return of_stages | {name: run[name] for name in ("decoding", "corpus", "lines") if name in run}


def versions_of(train: Record, run: Record) -> dict[str, str]:
    """Return the versions of the packages that trained; those of several sessions are joined by commas."""
    sessions = [session["versions"] for session in train.get("sessions", []) if "versions" in session]
    by_package: dict[str, list[str]] = {}
    for session in sessions:
        for package, version in session.items():
            by_package.setdefault(package, []).append(version)
    joined = {package: ", ".join(dict.fromkeys(several)) for package, several in by_package.items()}
    if run.get("commit"):
        joined["commit"] = run["commit"]
    return joined


def scores(run: Record) -> dict[str, CellScore]:
    """Return the scores by metric, and the validation loss."""
    by_metric = {
        name: CellScore(score=score["score"], interval=score.get("interval"))
        for name, score in run.get("scores", {}).items()
    }
    loss = run_record.validation_loss(run)
    if loss is not None:
        by_metric[LOSS] = CellScore(score=loss)
    return by_metric


def speed(curves: Curves) -> float | None:
    """Return the median of the target tokens per second, without the first fifth of the points, the warm-up."""
    speeds = [point["tokens_a_second"] for point in curves.train if "tokens_a_second" in point]
    return statistics.median(speeds[len(speeds) // 5 :]) if speeds else None


def machines(cells: Sequence[Cell]) -> list[Hardware]:
    """Return each machine once, with the GPUs that its cells name."""
    by_host: dict[str, Hardware] = {}
    for cell in cells:
        machine = CellRecord(cell).content.get("machine")
        if machine:
            hardware = by_host.setdefault(machine["host"], convert({**machine, "gpus": []}, Hardware))
            device = read(cell.folder / "train.json").get("device", "CPU")
            if device not in ("CPU", *hardware.gpus):
                hardware.gpus.append(device)
    return list(by_host.values())
