"""A grid with its corpus and its cells in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.cells import cells
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running import tuning_choice


@dataclass(frozen=True)
class Comparison:
    """All cells of a grid, and those that a request selects. Their states are read anew at each call."""

    grid: Grid
    corpus: CorpusChoice
    cells: Sequence[Cell]
    selected: Sequence[Cell]
    gpus: int  # to use at the same time

    @classmethod
    def of(cls, request: CompareRequest, grid: Grid) -> "Comparison":
        corpus, gpus = scoring_of(grid.task).find(grid, request), number_of_gpus(request)
        every = cells(grid, corpus, request, min(1, gpus))
        return cls(grid, corpus, every, select(grid, every, request), gpus)

    def states(self) -> list[CellState]:
        """Return the states of the selected cells."""
        return [CellState(cell) for cell in self.selected]

    def needed(self, waiting: bool = True) -> list[CellState]:
        """Return the states of the selected cells that are trained, with or without those that wait for a choice."""
        return tuning_choice.needed(self.grid, self.states(), waiting)


def number_of_gpus(request: CompareRequest) -> int:
    """Return the number of GPUs to use; the launcher cannot count those of a cluster's node."""
    present = torch.cuda.device_count() if request.launcher == "here" else 1
    gpus = present if request.gpus is None else request.gpus
    if gpus > present:
        allowed = f"allowed are 0 to {present} GPUs" if present else "this machine has no GPU that torch can use"
        raise UserError(f"--gpus {gpus}: {allowed}")
    return gpus


def select(grid: Grid, every: Sequence[Cell], request: CompareRequest) -> list[Cell]:
    """Return the cells of the families that --only names, and of these the one that --cell names; without, all."""
    for family in request.only:
        if family not in grid.families:
            raise UserError(not_allowed("--only", family, grid.families))
    selected = [cell for cell in every if not request.only or cell.family in request.only]
    names = [cell.name for cell in selected]
    if request.cell and request.cell not in names:
        raise UserError(not_allowed("--cell", request.cell, names))
    return [cell for cell in selected if request.cell in ("", cell.name)]
