"""Cells as they are written for their jobs: the options of each stage's request by their names, in JSON."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import cast

from msgspec import Struct

from realformer_nmt.common.files import records
from realformer_nmt.common.stages.stage_request import StageRequest
from realformer_nmt.comparison.grid.cell import Cell, CellStage, Failure
from realformer_nmt.subcommands import SUBCOMMANDS, import_user_dir, request_of

FILE = "cells.json"
HINT = "`compare --launcher slurm` writes it"
REQUESTS = {row.name: row for row in SUBCOMMANDS}


class WrittenStage(Struct, frozen=True, kw_only=True):
    """Stage of a cell: a subcommand, and its options that have not their usual values."""

    name: str
    record: str
    subcommand: str
    options: dict[str, object]


class WrittenCell(Struct, frozen=True, kw_only=True):
    """Cell with all that its job needs, as the grid asked for it when the job was submitted."""

    family: str
    layers: str
    seed: int
    folder: str
    point: tuple[tuple[str, int | float], ...]
    task: str
    data: str
    languages: tuple[str, ...]
    stages: tuple[WrittenStage, ...]
    failure: Failure
    retries: int
    subset: str
    grid_digest: str

    @classmethod
    def of(cls, cell: Cell) -> "WrittenCell":
        return cls(
            family=cell.family,
            layers=cell.layers,
            seed=cell.seed,
            folder=str(cell.folder),
            point=cell.point,
            task=cell.task,
            data=str(cell.data),
            languages=cell.languages,
            stages=tuple(
                WrittenStage(
                    name=stage.name,
                    record=str(stage.record),
                    subcommand=stage.request.subcommand,
                    options=dict(changed(stage.request)),
                )
                for stage in cell.stages
            ),
            failure=cell.failure,
            retries=cell.retries,
            subset=cell.subset,
            grid_digest=cell.grid_digest,
        )

    def cell(self) -> Cell:
        """Return the cell, after the import of the folder whose rows its scores may need."""
        folder = self.stages[-1].options.get("user_dir")
        import_user_dir("compare", Path(str(folder)) if folder else None)
        return Cell(
            self.family,
            self.layers,
            self.seed,
            Path(self.folder),
            point=self.point,
            task=self.task,
            data=Path(self.data),
            languages=self.languages,
            stages=tuple(
                CellStage(stage.name, request(stage.subcommand, stage.options), Path(stage.record))
                for stage in self.stages
            ),
            failure=self.failure,
            retries=self.retries,
            subset=self.subset,
            grid_digest=self.grid_digest,
        )


class WrittenCells(Struct, frozen=True, kw_only=True):
    """Content of cells.json."""

    cells: list[WrittenCell]


def write(path: Path, cells: Iterable[Cell]) -> None:
    records.write(path, WrittenCells(cells=[WrittenCell.of(cell) for cell in cells]))


def read(path: Path, index: int) -> Cell:
    """Return the cell of a task."""
    return records.read(path, WrittenCells, HINT).cells[index].cell()


def changed(request: StageRequest, absolute: bool = False) -> Iterator[tuple[str, object]]:
    """Yield the options that have not their usual values, by name."""
    for each in fields(request):
        value = getattr(request, each.name)
        if value != each.default:
            yield each.name, plain(value, absolute)


def plain(value: object, absolute: bool) -> object:
    """Return a value as JSON has it."""
    if isinstance(value, Path):
        return str(value.resolve() if absolute else value)
    return [plain(item, absolute) for item in value] if isinstance(value, tuple) else value


def request(subcommand: str, options: Mapping[str, object]) -> StageRequest:
    return cast(StageRequest, request_of(REQUESTS[subcommand]).of(**options))


def digest(cell: Cell) -> str:
    """Return a hash of what a cell is trained and scored with, whichever folder `compare` is called from."""
    stages = [(each.name, each.request.subcommand, dict(changed(each.request, absolute=True))) for each in cell.stages]
    failure = {each.name: getattr(cell.failure, each.name) for each in fields(cell.failure)}
    return hashlib.sha256(json.dumps([stages, failure, cell.retries]).encode()).hexdigest()
