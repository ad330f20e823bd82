"""The cells of a grid, as `realformer-nmt compare` asks for them, on the CPU."""

from pathlib import Path
from typing import Any

from realformer_nmt.common.stages.stage import StageStatus
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import Cell, CellStage, Failure, Named, folder_of
from realformer_nmt.comparison.grid.cells import cells
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid, load
from realformer_nmt.comparison.grid.scoring import scoring_of


def corpus_of(grid: Grid, folder: Path, **options: Any) -> CorpusChoice:
    return scoring_of(grid.task).find(grid, request_of(folder, **options))


def cells_of(grid: Grid, folder: Path, **options: Any) -> list[Cell]:
    return cells(grid, corpus_of(grid, folder, **options), request_of(folder, **options), 0)


def request_of(folder: Path, **options: Any) -> CompareRequest:
    return CompareRequest(grid=Path("grid.toml"), folder=folder, **options)


def only(folder: Path) -> list[Cell]:
    """Return the cells of a comparison in the folder runs beside its grid.toml."""
    return cells_of(load(folder / "grid.toml"), folder / "runs")


class NoRequest:
    """Request of a stage that differs from no record."""

    subcommand = "score"

    def stage(self) -> "NoRequest":
        return self

    def status(self) -> StageStatus:
        return StageStatus()


def stub(folder: Path, *scorings: CellStage[Any], family: str = "admin", layers: str = "6", seed: int = 1) -> Cell:
    """Return a cell in a comparison's folder whose stages have no requests."""
    path = folder_of(Named(family, layers, seed), folder)
    train, average = (CellStage[Any](name, NoRequest(), path / f"{name}.json") for name in ("train", "average.pt"))
    return Cell(family, layers, seed, path, folder, ("en", "de"), train, average, scorings, Failure(), 0)


def changed_grid(root: Path, *changes: tuple[str, str]) -> tuple[Path, dict[str, Cell]]:
    """The grid with other words in it, beside the first, and its cells in the first one's folder."""
    text = (root / "grid.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = root / "other.toml"
    file.write_text(text)
    grid = load(file)
    return file, {cell.name: cell for cell in cells_of(grid, root / "runs")}
