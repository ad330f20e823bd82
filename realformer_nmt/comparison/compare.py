"""The recipe of `realformer-nmt compare`: load the grid, plan, run, gather, report."""

import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs
from rich.console import Console

from realformer_nmt.checkpoints.run_files import RECORD
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.stages import outputs
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.comparison import Comparison
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.grid import outside_texts
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.cell_requests import commands
from realformer_nmt.comparison.grid.cells import check_one_task
from realformer_nmt.comparison.grid.outside_texts import OutsideText
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.results import gather, measured_cell, outside_rows, results_file, too_short
from realformer_nmt.comparison.running import local, merging, plan, renewal, status, tuning_choice
from realformer_nmt.comparison.running.progress import Live
from realformer_nmt.comparison.running.slurm import launcher
from realformer_nmt.protocols import fairseq_command, trackers
from realformer_nmt.protocols.command import layers, pasted


def run(request: CompareRequest) -> int:
    """Run a comparison from its grid to its report, or the part of it that the options ask for."""
    check_request(request)
    grid = grids.load(request.grid).with_seeds(request.add_seeds)
    check_one_task(grid)
    comparison = Comparison.of(request, grid)
    outside = outside_texts.parse(request.outside, grid, comparison.corpus)
    trackers.check_requested(request)
    if request.cell:
        return run_cell(request, comparison)
    if request.plan:
        return show_plan(comparison, request.tflops)
    if request.status:
        print(status.table(comparison.needed()))
        return 0
    from realformer_nmt.comparison.report import document  # which imports matplotlib, and a plan does without

    document.check_folder(request.folder, grid.drawn, grid.axes or {})
    errors: list[str] = []
    if not request.report:
        with locked(request.folder / ".lock", "compares in"):
            check_data(comparison)
            if request.merge:
                merge_folders(request, comparison)
            else:
                errors = train_and_score(request, comparison)
    states = tuning_choice.needed(grid, [CellState(cell) for cell in comparison.cells])
    try:
        write_report(request, comparison, states, outside)
    except UserError as error:  # the errors of cells are said beside it
        raise UserError("; ".join([*errors, str(error)])) from error
    if not request.report:
        check_no_errors([state for state in states if state.cell in comparison.selected], errors)
    return 0


def write_report(
    request: CompareRequest, comparison: Comparison, states: Sequence[CellState], outside: Sequence[OutsideText]
) -> None:
    """Gather the results of all cells, write results.json and the report, and print the table."""
    from realformer_nmt.comparison.report import document  # which imports matplotlib

    grid, corpus, folder = comparison.grid, comparison.corpus, request.folder
    record = gather.gather(grid, corpus, states, replace(request, report=False).command())
    scored = measured_cell.scored_cells(states, grid.subsets[0])
    rows = outside_rows.rows(outside, grid, corpus, scored, record.rows, comparison.gpus == 0)
    record = structs.replace(record, outside=rows)
    results_file.write(folder / document.RECORD, record)
    shown = too_short.restated(record)
    document.write(shown, folder)
    print(document.terminal_table(shown))
    print(f"\n{folder / 'report.html'}")


def check_request(request: CompareRequest) -> None:
    """Refuse a folder that cannot be a comparison's, and options that another one makes useless."""
    outputs.check_folder(request.folder)
    if (request.folder / RECORD).exists():
        raise UserError(f"{request.folder} is the folder of a training, with {RECORD}: name another --folder")
    if request.launcher == "slurm" and (request.cell or request.jobs is not None):
        raise UserError(
            "--launcher slurm runs a job for each cell: leave --cell and --jobs out, or limit the jobs by at-once in "
            "[slurm]"
        )


def show_plan(comparison: Comparison, tflops: float | None) -> int:
    """Print what would run and what it costs; before the corpus is prepared, how it is prepared."""
    grid, corpus, planned = comparison.grid, comparison.corpus, comparison.needed()
    missing = corpus.missing(grid.shares)
    if missing:
        print(*(pasted(each.command()) for each in corpus.preparations(grid.shares)), sep="\n")
        print(f"{len(planned)} cells; run the commands above to see parameters and cost", end="\n\n")
    else:
        plan.check_trainings(planned)
        costs = [plan.cost(state.planned) for state in planned]
        print(plan.table(planned, costs, tflops))
        later = len(planned) - len(comparison.needed(waiting=False))
        if later:
            print(f"{later} of them wait for a choice of {', '.join(grid.tune)}: only the chosen are trained")
    for state in planned:
        lines = commands(state.cell)
        if corpus.planned_name or not missing:
            lines.append(f"# which runs {pasted(state.planned.command())}")
        print(f"\n# {state.cell.name}", *lines, sep="\n")
    return 0


def check_data(comparison: Comparison) -> None:
    """Prepare the corpus where it is missing; check that it is as the grid says, and has each subset of the grid."""
    comparison.corpus.check_settings()
    for preparation in comparison.corpus.preparations(comparison.grid.shares):
        preparation.run()
    for subset in comparison.grid.subsets:
        comparison.corpus.check_subset(subset)


def merge_folders(request: CompareRequest, comparison: Comparison) -> None:
    """Copy the finished cells of the folders that --merge names."""
    there = [Comparison.of(replace(request, folder=folder), comparison.grid) for folder in request.merge]
    in_folders = {folder: other.states() for folder, other in zip(request.merge, there, strict=True)}
    merging.merge(comparison.states(), in_folders)


def train_and_score(request: CompareRequest, comparison: Comparison) -> list[str]:
    """Run all cells, those that wait for a tuned setting once it is chosen, and return the errors of single cells."""
    planned = comparison.needed()
    renew_changed(request, planned)
    checked = [state.cell for state in planned]
    launched: list[Cell] = []
    errors: list[str] = []
    while ready := [state.cell for state in comparison.needed(waiting=False) if state.cell not in launched]:
        # trainings that ran again may choose another setting, whose cells were not needed before
        try:
            renew_changed(request, [CellState(cell) for cell in ready if cell not in checked])
        except UserError as error:
            raise UserError("; ".join([*errors, str(error)])) from error
        errors += launch(request, comparison, ready)
        launched += ready
    return errors


def run_cell(request: CompareRequest, comparison: Comparison) -> int:
    """Run the cell that --cell names; it alone is locked, so that a comparison may run others meanwhile."""
    if comparison.corpus.missing(comparison.grid.shares):
        raise UserError("the corpus is not prepared: `compare` without --cell prepares it, and --plan shows how")
    comparison.corpus.check_settings()
    for subset in comparison.grid.subsets:
        comparison.corpus.check_subset(subset)
    renew_changed(request, comparison.states())
    errors = launch(request, comparison, comparison.selected)
    check_no_errors(comparison.states(), errors)
    return 0


def renew_changed(request: CompareRequest, planned: Sequence[CellState]) -> None:
    """Set aside what was made with other settings or files, which --fresh runs again; refuse it without --fresh."""
    unfit = changed_cells(planned, request.fresh)
    plan.check_trainings(planned)
    if unfit and request.launcher == "slurm":
        launcher.end_jobs(request.folder, [state.cell for state in unfit])
    for state in unfit:
        renewal.renew(state)


def changed_cells(planned: Sequence[CellState], fresh: bool) -> list[CellState]:
    """Return the cells made with other settings or files, which --fresh runs again; refuse them without it."""
    unfit = [state for state in planned if state.differences]
    cells_by_differences: dict[str, list[str]] = {}
    for state in unfit:
        cells_by_differences.setdefault("; ".join(state.differences), []).append(state.cell.name)
    for differences, names in cells_by_differences.items():
        verb = "was" if len(names) == 1 else "were"
        print(printable(f"{', '.join(names)} {verb} made with other settings or files: {differences}"), file=sys.stderr)
    if unfit and not fresh:
        raise UserError(
            f"{len(unfit)} of {len(planned)} cells were made with other settings or files, listed above: pass --fresh "
            "to redo them, or name another --folder"
        )
    return unfit


def launch(request: CompareRequest, comparison: Comparison, ready: Sequence[Cell]) -> list[str]:
    """Run cells to their end, the longest first, so that no GPU waits for a single long one at the end.

    Return the errors of single cells that no record has; a job of SLURM has its own log."""
    gpus = comparison.gpus
    if request.launcher == "here" and not gpus:
        print("training on the CPU: no GPU is used", file=sys.stderr)
    longest_first = sorted(ready, key=work, reverse=True)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        with Live(ready, Console(stderr=True, force_terminal=sys.stderr.isatty())) as live:
            if request.launcher == "slurm":
                launcher.launch(request, comparison.grid, longest_first, live.show)
                return []
            return local.launch(longest_first, local.slots(gpus, request.jobs or max(1, gpus)), live.show)
    except KeyboardInterrupt as error:
        raise UserError("interrupted; rerun the same command to resume") from error
    finally:
        signal.signal(signal.SIGTERM, before)


def work(cell: Cell) -> float:
    """Return the relative work of a cell: its layers times its updates or epochs."""
    request = cell.train.request
    protocol = fairseq_command.load_protocol(request, fairseq_command.preparation(request))
    return float(sum(layers(cell.layers)) * (protocol.updates or protocol.epochs or 0))


def check_no_errors(states: Sequence[CellState], errors: Sequence[str]) -> None:
    names = [state.cell.name for state in states if state.state == "error"]
    failed = [f"{', '.join(names)}: see `--status`; the same command tries again"] if names else []
    if errors or failed:
        raise UserError("; ".join([*errors, *failed]))
