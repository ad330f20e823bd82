"""The cells of a grid, as `realformer-nmt compare` asks for them, on the CPU."""

from pathlib import Path
from typing import Any

from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.cells import cells
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import scoring_of


def corpus_of(grid: Grid, folder: Path, **options: Any) -> CorpusChoice:
    return scoring_of(grid.task).find(grid, request_of(folder, **options))


def cells_of(grid: Grid, folder: Path, **options: Any) -> list[Cell]:
    return cells(grid, corpus_of(grid, folder, **options), request_of(folder, **options), 0)


def request_of(folder: Path, **options: Any) -> CompareRequest:
    return CompareRequest(grid=Path("grid.toml"), folder=folder, **options)
