"""The recipe of `realformer-nmt compare`: load the grid, plan, run, gather, report."""

import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

import torch
from rich.console import Console

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.grid import outside_texts
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.cells import cells, check_one_task
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.records import cell_state
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running import local, merging, plan, renewal, status, tuning_choice
from realformer_nmt.comparison.running.progress import Live
from realformer_nmt.comparison.running.slurm import launcher
from realformer_nmt.protocols import fairseq_command, trackers
from realformer_nmt.protocols.command import layers, pasted
from realformer_nmt.protocols.train import TrainRequest


def run(request: CompareRequest) -> int:
    """Run a comparison from its grid to its report, or the part of it that the options ask for."""
    check_combinations(request)
    grid = grids.load(request.grid).with_seeds(request.add_seeds)
    check_one_task(grid)
    corpus = scoring_of(grid.task).find(grid, request)
    outside = outside_texts.parse(request.outside, grid, corpus)
    gpus = number_of_gpus(request)
    trackers.check_requested(request)
    all_cells = cells(grid, corpus, request, min(1, gpus))
    selected = select(grid, all_cells, request)
    if request.cell:
        return run_cell(request, grid, corpus, selected, gpus)
    if request.plan:
        return show_plan(grid, corpus, tuning_choice.needed(grid, cell_state.read(selected)), request.tflops)
    if request.status:
        print(status.table(tuning_choice.needed(grid, cell_state.read(selected))))
        return 0
    from realformer_nmt.comparison import reporting  # which imports matplotlib, and a plan does without

    reporting.check_folder(request.folder, grid)
    errors: list[str] = []
    if not request.report:
        with locked(request.folder / ".lock", "compares in"):
            check_data(grid, corpus)
            outside_texts.parse(request.outside, grid, corpus)  # whose lines may only be counted now
            if request.merge:
                merge_folders(request, grid, corpus, selected, gpus)
            else:
                errors = train_and_score(request, grid, selected, gpus)
    states = tuning_choice.needed(grid, cell_state.read(all_cells))
    try:
        reporting.write_report(grid, corpus, states, request.folder, outside, cpu=gpus == 0)
    except UserError as error:  # the errors of cells are said beside it
        raise UserError("; ".join([*errors, str(error)])) from error
    if not request.report:
        check_no_errors([state for state in states if state.cell in selected], errors)
    return 0


def check_combinations(request: CompareRequest) -> None:
    """Refuse an option that another one makes useless."""
    if request.jobs is not None and request.launcher == "slurm":
        raise UserError(
            f"--jobs {request.jobs} is for this machine, and --launcher slurm runs a job for each cell: leave --jobs "
            "out, or limit the jobs by at-once in [slurm]"
        )
    if request.cell and request.launcher == "slurm":
        raise UserError(f"--cell {request.cell} runs on this machine: leave --launcher slurm out")
    if request.merge and request.fresh:
        raise UserError("--merge only copies finished cells, so that --fresh has no effect: leave --fresh out")


def number_of_gpus(request: CompareRequest) -> int:
    """Return the number of GPUs to use; the launcher cannot count those of a cluster's node."""
    present = torch.cuda.device_count() if request.launcher == "here" else 1
    gpus = present if request.gpus is None else request.gpus
    if gpus > present:
        allowed = f"allowed are 0 to {present} GPUs" if present else "this machine has no GPU that torch can use"
        raise UserError(f"--gpus {gpus}: {allowed}")
    return gpus


def select(grid: Grid, all_cells: Sequence[Cell], request: CompareRequest) -> list[Cell]:
    """Return the cells of the families that --only names, and of these the one that --cell names; without, all."""
    for family in request.only:
        if family not in grid.families:
            raise UserError(not_allowed("--only", family, grid.families))
    selected = [cell for cell in all_cells if not request.only or cell.family in request.only]
    names = [cell.name for cell in selected]
    if request.cell and request.cell not in names:
        raise UserError(not_allowed("--cell", request.cell, names))
    return [cell for cell in selected if request.cell in ("", cell.name)]


def show_plan(grid: Grid, corpus: CorpusChoice, planned: Sequence[CellState], tflops: float | None) -> int:
    """Print what would run and what it costs; before the corpus is prepared, how it is prepared."""
    missing = corpus.missing(shares(grid))
    if missing:
        print(*(pasted(each.command()) for each in corpus.preparations(shares(grid))), sep="\n")
        print(f"{len(planned)} cells; run the commands above to see parameters and cost", end="\n\n")
    else:
        plan.check_trainings(planned)
        costs = [plan.cost(state.planned) for state in planned]
        print(plan.table(planned, costs, tflops))
        print(tuning_choice.waiting_line(grid, planned), end="")
    for state in planned:
        lines = plan.commands(state.cell)
        if corpus.planned.corpus or not missing:
            lines.append(f"# which runs {pasted(state.planned.command())}")
        print(f"\n# {state.cell.name}", *lines, sep="\n")
    return 0


def check_data(grid: Grid, corpus: CorpusChoice) -> None:
    """Prepare the corpus where it is missing; check that it is as the grid says, and has each subset of the grid."""
    corpus.check_settings()
    for preparation in corpus.preparations(shares(grid)):
        preparation.run()
    for subset in grid.subsets:
        corpus.check_subset(subset)


def shares(grid: Grid) -> list[float]:
    """Return the shares of the corpus that cells are trained on."""
    values: list[float] = (grid.axes or {}).get("data", [])
    return values


def merge_folders(
    request: CompareRequest, grid: Grid, corpus: CorpusChoice, selected: Sequence[Cell], gpus: int
) -> None:
    """Copy the finished cells of the folders that --merge names."""
    merging.check_cells(request.merge)
    in_folders = []
    for folder in request.merge:
        there = cells(grid, corpus, replace(request, folder=folder), min(1, gpus))
        in_folders.append(cell_state.read(select(grid, there, request)))
    merging.merge(cell_state.read(selected), in_folders)


def train_and_score(request: CompareRequest, grid: Grid, selected: Sequence[Cell], gpus: int) -> list[str]:
    """Run all cells, those that wait for a tuned setting once it is chosen, and return the errors of single cells."""
    planned = tuning_choice.needed(grid, cell_state.read(selected))
    renew_changed(request, planned)
    checked = [state.cell for state in planned]
    launched: list[Cell] = []
    errors: list[str] = []
    while ready := [cell for cell in tuning_choice.ready(grid, cell_state.read(selected)) if cell not in launched]:
        # trainings that ran again may choose another setting, whose cells were not needed before
        try:
            renew_changed(request, cell_state.read(cell for cell in ready if cell not in checked))
        except UserError as error:
            raise UserError("; ".join([*errors, str(error)])) from error
        errors += launch(request, grid, ready, gpus)
        launched += ready
    return errors


def run_cell(request: CompareRequest, grid: Grid, corpus: CorpusChoice, selected: Sequence[Cell], gpus: int) -> int:
    """Run the cell that --cell names; it alone is locked, so that a comparison may run others meanwhile."""
    if corpus.missing(shares(grid)):
        raise UserError("the corpus is not prepared: `compare` without --cell prepares it, and --plan shows how")
    renew_changed(request, cell_state.read(selected))
    errors = launch(request, grid, selected, gpus)
    check_no_errors(cell_state.read(selected), errors)
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


def launch(request: CompareRequest, grid: Grid, ready: Sequence[Cell], gpus: int) -> list[str]:
    """Run cells to their end, the longest first, so that no GPU waits for a single long one at the end.

    Return the errors of single cells that no record has; a job of SLURM has its own log."""
    if request.launcher == "here" and not gpus:
        print("training on the CPU: no GPU is used", file=sys.stderr)
    longest_first = sorted(ready, key=work, reverse=True)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        with Live(ready, Console(stderr=True, force_terminal=sys.stderr.isatty())) as live:
            if request.launcher == "slurm":
                launcher.launch(request, grid, longest_first, live.show)
                return []
            return local.launch(longest_first, local.slots(gpus, request.jobs or max(1, gpus)), live.show)
    except KeyboardInterrupt as error:
        raise UserError("interrupted; rerun the same command to resume") from error
    finally:
        signal.signal(signal.SIGTERM, before)


def work(cell: Cell) -> float:
    """Return the relative work of a cell: its layers times its updates or epochs."""
    request = cell.requests(TrainRequest)[0]
    protocol = fairseq_command.load_protocol(request, fairseq_command.preparation(request))
    return float(sum(layers(cell.layers)) * (protocol.updates or protocol.epochs or 0))


def check_no_errors(states: Sequence[CellState], errors: Sequence[str]) -> None:
    names = [state.cell.name for state in states if state.state == "error"]
    failed = [f"{', '.join(names)}: see `--status`; the same command tries again"] if names else []
    if errors or failed:
        raise UserError("; ".join([*errors, *failed]))
