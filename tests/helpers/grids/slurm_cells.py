"""The cells of the one-cell grid that tests of SLURM write."""

from pathlib import Path

from grids.grid_cells import cells_of

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import load


def only(folder: Path) -> list[Cell]:
    grid = load(folder / "grid.toml")
    return cells_of(grid, folder / "runs")
