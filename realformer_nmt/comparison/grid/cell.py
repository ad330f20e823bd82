"""A cell of the grid: one training, its folder, its stages up to its scores, and when it has failed."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.run_files import CELL, CHECKPOINTS
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.stages.stage import StageRequest
from realformer_nmt.comparison.grid import axes
from realformer_nmt.comparison.grid.axes import Point
from realformer_nmt.protocols.train import TrainRequest
from realformer_nmt.tasks import TRANSLATION

SomeRequest = TypeVar("SomeRequest", bound=StageRequest)
CELLS = "cells"  # in the folder of a comparison


@dataclass(frozen=True)
class Failure:
    """When a model is stuck: its loss is still near the unigram entropy of its training data."""

    judged_after: int = 2000  # updates; a training that is shorter is judged at its end
    margin: float = 0.5  # bits per token below the unigram entropy; who knows only first and last words may be so far
    stop_early: bool = False

    def __post_init__(self) -> None:
        if self.judged_after < 1 or not 0 <= self.margin < math.inf:
            raise ValueError(
                f"failure: judged_after {self.judged_after}, margin {self.margin}: allowed are 1 update or more, and a "
                "finite number of bits, 0 or more"
            )


USUAL = Failure()


@dataclass(frozen=True)
class CellStage(Generic[SomeRequest]):
    name: str
    request: SomeRequest
    record: Path  # JSON file of its settings and inputs


Stages = tuple[CellStage[Any], ...]


class Named(NamedTuple):
    """Family, layers, seed and point that a grid names a cell by."""

    family: str
    layers: str
    seed: int
    point: Point = ()


@dataclass(frozen=True)
class Cell:
    """One training, and the scores of its model."""

    family: str
    layers: str
    seed: int
    folder: Path
    data: Path  # the data-bin
    languages: tuple[str, ...]  # of the data-bin; none where it is of a single text
    train: CellStage[TrainRequest]
    average: CellStage[AverageRequest]
    scorings: Stages
    failure: Failure
    retries: int
    point: Point = ()
    task: str = TRANSLATION
    subset: str = "test"  # whose scores are read
    corpus_differences: tuple[str, ...] = ()  # of the prepared corpus from what the grid asks for

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def stages(self) -> Stages:
        """All stages, in the order in which they run."""
        return (self.train, *self.after_training)

    @property
    def after_training(self) -> Stages:
        return (self.average, *self.scorings)

    @property
    def record_file(self) -> Path:
        """File of the cell's state, machine and sessions."""
        return self.folder / CELL

    @property
    def lock(self) -> Path:
        return self.folder / ".cell-lock"

    @property
    def checkpoints(self) -> Path:
        return self.folder / CHECKPOINTS

    @property
    def scores(self) -> Path:
        return of_subset(self.folder, "run", self.subset, ".json")

    def requests(self, kind: type[SomeRequest]) -> list[SomeRequest]:
        """Return the requests of one kind among its scorings."""
        return [stage.request for stage in self.scorings if isinstance(stage.request, kind)]


def folder_of(named: Named, comparison: Path) -> Path:
    """Return the folder of a cell in that of a comparison."""
    name = "-".join(filter(None, (named.family, named.layers, axes.point_name(named.point), f"s{named.seed}")))
    return comparison / CELLS / safe_names.plain(name)


def of_subset(folder: Path, name: str, subset: str, ending: str = "") -> Path:
    """Return the path of a subset's file: run.json of test, run-test1.json of test1."""
    return folder / (f"{name}{ending}" if subset == "test" else f"{name}-{subset}{ending}")
