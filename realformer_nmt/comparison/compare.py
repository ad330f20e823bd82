"""`realformer-nmt compare` but for its status: what is checked before anything starts, the cells, the report."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import alone
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.option_choice import unknown
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.command import CompareRequest
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.cells import cells, check_one_task
from realformer_nmt.comparison.grid.corpus import Corpus
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import SCORINGS
from realformer_nmt.comparison.records.cell_record import AGAIN, Note
from realformer_nmt.comparison.report import document
from realformer_nmt.comparison.results import gather, results_file
from realformer_nmt.comparison.running import local, merging, plan, slurm, status, tuning_choice
from realformer_nmt.comparison.running.freshness import differences, renew
from realformer_nmt.comparison.running.progress import Live
from realformer_nmt.protocols import fairseq_command, trackers
from realformer_nmt.protocols.command import layers


def run(request: CompareRequest) -> int:
    grid = grids.load(request.grid).with_seeds(request.add_seeds)
    check_one_task(grid)
    corpus = SCORINGS[grid.task].find(grid, request.prepared, request.archives, request.folder)
    present = torch.cuda.device_count() if request.launcher == "here" else 1  # a node's are not seen from here
    gpus = present if request.gpus is None else request.gpus
    if gpus > present:
        raise UserError(f"--gpus {gpus}: allowed are 0 to {present} GPUs")
    trackers.check_requested(request)
    found = cells(grid, corpus, request.folder, min(1, gpus), trackers.chosen(request))
    chosen = only(grid, found, request.only)
    wanted = tuning_choice.wanted(grid, chosen)
    if request.plan:
        return show_plan(grid, corpus, wanted, request.tflops)
    if request.status:
        print(status.table(wanted, {cell.name: differences(cell) for cell in wanted}))
        return 0
    document.check_folder(request.folder, grid.drawn, grid.axes or {})
    if not request.report:
        with alone(request.folder / ".lock", "compares in"):
            check_data(grid, corpus)
            if request.merge:
                merging.check_cells(request.merge)
                merging.merge(
                    chosen, [only(grid, cells(grid, corpus, f, min(1, gpus)), request.only) for f in request.merge]
                )
            else:
                make(request, grid, chosen, gpus)
    write(grid, corpus, tuning_choice.wanted(grid, found), request.folder)
    errors = [cell.name for cell in tuning_choice.wanted(grid, chosen) if Note(cell).state == "error"]
    if errors and not request.report:
        raise UserError(f"{', '.join(errors)}: see `--status`; the same command tries again")
    return 0


def only(grid: Grid, found: Sequence[Cell], families: Sequence[str]) -> list[Cell]:
    for family in families:
        if family not in grid.families:
            raise UserError(unknown("--only", family, grid.families))
    return [cell for cell in found if not families or cell.family in families]


def make(request: CompareRequest, grid: Grid, found: Sequence[Cell], gpus: int) -> None:
    wanted = tuning_choice.wanted(grid, found)
    unfit = check_fit(wanted, request.fresh)
    plan.check_states(wanted)
    for cell in unfit:
        renew(cell)
    begun: list[Cell] = []
    while ready := [cell for cell in tuning_choice.ready(grid, found) if cell not in begun]:
        launch(request, grid, ready, gpus)
        begun += ready


def check_data(grid: Grid, corpus: Corpus) -> None:
    for preparation in corpus.preparations(shares(grid)):
        preparation.run()
    for subset in grid.subsets:
        SCORINGS[grid.task].check(corpus, subset)


def shares(grid: Grid) -> list[float]:
    """Of the corpus that cells are trained on."""
    found: list[float] = (grid.axes or {}).get("data", [])
    return found


def check_fit(found: Sequence[Cell], fresh: bool) -> list[Cell]:
    """Before anything starts; those that are to be made anew."""
    unfit = {cell: told for cell in found if (told := differences(cell))}
    for cell, told in unfit.items():
        print(printable(f"{cell.name} was made with other settings or files: {'; '.join(told)}"), file=sys.stderr)
    if unfit and not fresh:
        raise UserError(
            f"{len(unfit)} of {len(found)} cells are not what the grid asks for now, by the differences above: pass "
            "--fresh to make them again, or name another --folder"
        )
    return list(unfit)


def show_plan(grid: Grid, corpus: Corpus, found: Sequence[Cell], tflops: float | None) -> int:
    missing = corpus.missing(shares(grid))
    if missing:
        print(*(plan.pasted(each.command()) for each in corpus.preparations(shares(grid))), sep="\n")
        print(f"{len(found)} cells; parameters and cost are known once the corpus is prepared so", end="\n\n")
    else:
        plan.check_states(found)
        costs = [plan.cost(cell) for cell in found]
        print(plan.table(found, costs, tflops))
        print(tuning_choice.told(grid, found), end="")
    for cell in found:
        told = [f"# which runs {plan.pasted(plan.fairseq_train(cell))}"] if corpus.known.corpus or not missing else []
        print(f"\n# {cell.name}", *plan.commands(cell), *told, sep="\n")
    return 0


def launch(request: CompareRequest, grid: Grid, found: Sequence[Cell], gpus: int) -> None:
    if request.launcher == "here" and not gpus:
        print("training on the CPU: no GPU is used", file=sys.stderr)
    longest_first = sorted(found, key=work, reverse=True)  # none is left alone at the end
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        with Live(found, Console(stderr=True)) as live:
            if request.launcher == "slurm":
                slurm.launch(longest_first, request.folder, grid.slurm or {}, live.show)
            else:
                local.launch(longest_first, local.slots(gpus, request.jobs or max(1, gpus)), live.show)
    except KeyboardInterrupt as error:
        raise UserError("interrupted; the same command goes on where it was") from error
    finally:
        signal.signal(signal.SIGTERM, before)


def work(cell: Cell) -> float:
    """Of one cell against another: its layers, as often as they are trained."""
    request = plan.training(cell)
    protocol = fairseq_command.load_protocol(request, fairseq_command.preparation(request))
    return float(sum(layers(cell.layers)) * (protocol.updates or protocol.epochs or 0))


def write(grid: Grid, corpus: Corpus, found: Sequence[Cell], folder: Path) -> None:
    with expected(folder / "cells", AGAIN):
        record = gather.gather(grid, corpus, found, ["realformer-nmt", *sys.argv[1:]])
        results_file.write(folder / document.RECORD, record)
        document.write(record, folder)
    print(document.terminal_table(record))
    print(f"\n{folder / 'report.html'}")
