"""results.json: everything measured, gathered from the cells' own records, whether all are done or not."""

import shlex
from collections.abc import Sequence
from datetime import datetime, timezone

from msgspec.structs import asdict, replace

from realformer_nmt.common.files.json_records import expected
from realformer_nmt.common.files.records import none_if_unset
from realformer_nmt.common.stages.versions import Machine, commit, versions
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.translation_scoring import TEST, tested
from realformer_nmt.comparison.records.cell_record import FINAL
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.results import (
    analyses,
    measured_cell,
    setting_differences,
    summary,
    tuning_table,
)
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.default_title import default_title
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
from realformer_nmt.evaluation.metrics.metric_table import LOSS
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.evaluation.significance import TESTS


def gather(grid: Grid, corpus: CorpusChoice, states: Sequence[CellState], command: Sequence[str]) -> Results:
    """Build the content of results.json from the records of all cells."""
    cell_results = []
    for state in states:
        with expected(state.cell.folder, "use --fresh to redo it"):
            cell_results.append(measured_cell.describe(state))
    cells = [state.cell for state in states]
    runs = [measured_cell.run_of(state, grid.subsets[0]) for state in states]
    first, metric = first_of(runs), tested(grid.drawn)
    table, *further = [scored_on(grid, states, cell_results, subset) for subset in grid.subsets]
    return Results(
        name=grid.name,
        title=grid.title or default_title(first.corpus or corpus.name, corpus.pair(), grid.families, grid.layers),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        complete=all(result.state in FINAL for result in cell_results),
        grid=grid.written,
        command=shlex.join(command),
        commit=commit(),
        versions=versions(),
        hardware=machines([state for state in states if not state.unreadable]),
        corpus=first.corpus or corpus.name,
        languages=list(corpus.pair()),
        metric=grid.drawn,
        baseline=baseline(grid),
        axes=list(grid.axes or {}),
        overrides=setting_differences.settings(cell_results, grid.axes or {}),
        versions_apart=setting_differences.versions(cell_results),
        test=SignificanceTest(name=TESTS[TEST], metric=metric, samples=summary.SAMPLES, correction="Holm"),
        published=first.published or [],
        unit=first.unit or "lines",
        cells=cell_results,
        subset=table.subset,
        lines=table.lines,
        metrics=[*table.metrics, metric_column(LOSS)],
        rows=table.rows,
        tuned=tuned(grid, states, cell_results, table.rows),
        further=further,
        examples=examples(cells, runs),
        analyses=analyses.gather(cells[0].folder.parents[1], states),
    )


def scored_on(grid: Grid, states: Sequence[CellState], cell_results: Sequence[CellResult], subset: str) -> SubsetTable:
    """Build the table of the trainings on one test set."""
    runs, scored = [measured_cell.run_of(state, subset) for state in states], measured_cell.scored_cells(states, subset)
    results = [
        replace(result, scores=measured_cell.scores(run)) for result, run in zip(cell_results, runs, strict=True)
    ]
    names = dict.fromkeys(name for run in runs if run for name in run.scores)
    rows = summary.rows(results, scored, grid.drawn, baseline(grid))
    return SubsetTable(
        subset=subset,
        lines=none_if_unset(first_of(runs).lines),
        metrics=[scored_column(name, runs) for name in names],
        rows=summary.mark_best(rows, scored, grid.drawn),
    )


def first_of(runs: Sequence[RunRecord | None]) -> RunRecord:
    """Return the run of the first cell that has one, or else an empty one."""
    return next((run for run in runs if run), RunRecord())


def scored_column(metric: str, runs: Sequence[RunRecord | None]) -> MetricColumn:
    """Return the column of a metric; it has several signatures where the seeds mask other words."""
    signatures = [run.scores[metric].signature for run in runs if run and metric in run.scores]
    return replace(metric_column(metric), signature=", ".join(dict.fromkeys(signatures)))


def tuned(
    grid: Grid, states: Sequence[CellState], cell_results: Sequence[CellResult], rows: Sequence[ResultRow]
) -> TunedTable | None:
    """Build the table of each family with the values that suit it, where the grid asks for one."""
    if not grid.tune:
        return None
    scored = measured_cell.scored_cells(states, grid.subsets[0])
    trying = [result for result in cell_results if tuning_choice.tries(grid, result.seed)]
    best_rows = tuning_table.rows(rows, trying, scored, grid.drawn, baseline(grid), grid.tune)
    return TunedTable(axes=list(grid.tune), seeds=list(grid.tune_seeds or grid.seeds), rows=best_rows)


def baseline(grid: Grid) -> str:
    return grid.baseline or grid.families[0]


def machines(states: Sequence[CellState]) -> list[Hardware]:
    """Return each machine once, with the GPUs that its cells name."""
    by_machine: dict[Machine, Hardware] = {}  # two may have one host's name: images of virtual machines do
    for state in states:
        machine = state.record.machine
        if machine:
            hardware = by_machine.setdefault(machine, Hardware(**asdict(machine)))
            training = state.training
            device = training.device if training and training.device else "CPU"
            if device not in ("CPU", *hardware.gpus):
                hardware.gpus.append(device)
    return list(by_machine.values())
