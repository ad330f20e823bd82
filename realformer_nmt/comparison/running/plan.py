"""`compare --plan`: the cells, the cost of each and its fairseq-train command; nothing is run."""

import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import torch
from tabulate import tabulate

from realformer_nmt.checkpoints import averaging, belongs
from realformer_nmt.checkpoints.run_files import RECORD
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.evaluation.rows.evaluate import EvaluateRequest
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.protocols.running import training as trainings
from realformer_nmt.protocols.running.planned_training import PlannedTraining

USED = 1 / 3  # share of the rate of large matrix products that a training of moderate width reaches
SIZE = 1024  # rows and columns of the matrices


class Cost(NamedTuple):
    parameters: int
    updates: int
    tokens_a_step: int

    @property
    def operations(self) -> float:
        """Operations of a training, 6 per parameter and token: 2 for its product, 4 for the two products of its
        gradients (Kaplan et al. 2020, arXiv 2001.08361, section 2.1)."""
        return 6.0 * self.parameters * self.updates * self.tokens_a_step


def check_trainings(cells: Sequence[CellState]) -> None:
    """Refuse cells whose training would not leave the checkpoints to average. The data-bins must exist."""
    refused: dict[str, list[str]] = {}
    for state in cells:
        try:
            check_training(state)
        except UserError as error:
            refused.setdefault(str(error), []).append(state.cell.name)
    if refused:
        raise UserError("; ".join(f"{', '.join(names)}: {error}" for error, names in refused.items()))


def check_training(state: CellState) -> None:
    if state.is_finished:
        return
    if not state.statuses["train"].done:
        start = state.planned.request.begin_with
        if start and not start.is_file():
            raise UserError(f"{start}: no such file; `pretrained` names it as the start of this cell: train it first")
        if start:
            belongs.check_average(start, start.with_name(RECORD))
        subsets = [evaluate.subset for evaluate in state.cell.requests(EvaluateRequest)]
        try:
            trainings.check_planned(state.planned, subsets)
        except UserError as error:
            raise UserError(f"{error}; set these options in [budget] or [train] of the grid") from error
    elif not state.statuses["average"].done:
        averaging.select(state.cell.average.request)


def cost(planned: PlannedTraining) -> Cost:
    """Return the cost of a training whose data are there."""
    from realformer_nmt.model.models.meta_model import outline  # which imports the models

    with quiet():
        model = outline(planned.cfg.model, planned.task)
    parameters = sum(weights.numel() for weights in model.parameters())
    return Cost(parameters, planned.length.updates, planned.tokens_a_step)


def table(cells: Sequence[CellState], costs: Sequence[Cost], tflops: float | None) -> str:
    """Return the table of the costs, with the hours at the rate given, measured or estimated."""
    measured = rate(cells, costs)
    if tflops:
        assumed, origin = tflops * 1e12, "as given"
    elif measured:
        assumed, origin = measured, "as the cells that are done"
    else:
        assumed, origin = USED * product_rate(), "a third of this machine's speed in matrix products"
    rows = [
        (state.cell.name, state.state, *cost, cost.operations / 1e15, cost.operations / assumed / 3600)
        for state, cost in zip(cells, costs, strict=True)
    ]
    headers = ["cell", "state", "parameters", "updates", "tokens a step", "PFLOP", "hours"]
    note = f"hours of training at {assumed / 1e12:.3g} TFLOP/s, {origin}; all: {sum(row[-1] for row in rows):.2f}"
    return "\n\n".join([tabulate(rows, headers, intfmt=",", floatfmt=("", "", "", "", "", ".3g", ".3g")), note])


def rate(cells: Sequence[CellState], costs: Sequence[Cost]) -> float | None:
    """Return the operations per second of the trainings that are complete, their median."""
    rates = []
    for state, cost in zip(cells, costs, strict=True):
        training = None if state.unreadable else state.training
        if training and training.is_complete and training.wall_clock_hours:
            rates.append(cost.operations / training.wall_clock_hours / 3600)
    return median(rates) if rates else None


def product_rate() -> float:
    """Measure the operations per second of large matrix products on this machine."""
    matrix = torch.rand(SIZE, SIZE, device="cuda" if torch.cuda.is_available() else "cpu")
    times = []
    for _ in range(4):
        start = time.perf_counter()
        float((matrix @ matrix)[0, 0])  # waits for the GPU
        times.append(time.perf_counter() - start)
    return 2 * SIZE**3 / median(times)
