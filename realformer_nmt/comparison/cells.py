"""A cell of the grid: one training, and the commands from it to its scores."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from realformer_nmt.common import sealed
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.grid import Failure, Grid
from realformer_nmt.protocols.command import flags
from realformer_nmt.protocols.protocol import load

INTERVAL = 20  # updates between two points of a curve


@dataclass(frozen=True)
class Stage:
    name: str
    words: tuple[str, ...]  # of `realformer-nmt`
    record: Path  # of what it was made from


@dataclass(frozen=True)
class Cell:
    family: str
    layers: str
    seed: int
    folder: Path
    data: Path  # the data-bin, and its languages
    languages: tuple[str, str]
    stages: tuple[Stage, ...]
    failure: Failure
    retries: int
    subset: str = "test"  # whose scores are read

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def note(self) -> Path:
        """What became of it."""
        return self.folder / "cell.json"

    @property
    def lock(self) -> Path:
        return self.folder / ".cell-lock"

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def scores(self) -> Path:
        return place(self.folder, "run", self.subset, ".json")


def read(record: Path) -> dict[str, Any]:
    """Nothing where there is none yet."""
    return sealed.read(record, "--anew makes it again") if record.is_file() else {}


def cells(grid: Grid, corpus: Corpus, folder: Path, gpus: int) -> list[Cell]:
    """`gpus` for each."""
    return [_cell(grid, corpus, folder / "cells", gpus, named) for named in grid.cells()]


def _cell(grid: Grid, corpus: Corpus, folder: Path, gpus: int, named: tuple[str, str, int]) -> Cell:
    own = folder / "{}-{}-s{}".format(*named)
    stages = _stages(grid, corpus, own, gpus, named)
    return Cell(*named, own, corpus.data, corpus.pair(), stages, grid.failure, grid.retries, grid.subsets[0])


def _stages(grid: Grid, corpus: Corpus, folder: Path, gpus: int, named: tuple[str, str, int]) -> tuple[Stage, ...]:
    family, layers, seed = named
    protocol = str(grid.path(grid.protocol)) if grid.protocol.endswith(".toml") else grid.protocol
    settings = load(protocol, corpus.name, layers)
    budget = grid.options("budget", named)
    note, average = folder / "train.json", folder / "average.pt"
    train = [
        *("train", "--data", str(corpus.data), "--folder", str(folder), "--arch", family, "--layers", layers),
        *("--protocol", protocol, *corpus.train, "--gpus", str(gpus), "--curves", *flags(budget)),
        *("--", *flags({"log-interval": INTERVAL, **grid.options("train", named), "seed": seed})),
    ]
    averaging = replace(settings, average=budget.get("average", settings.average)).averaging
    averaged = ("average", str(folder / "checkpoints"), *averaging, "--output", str(average))
    return (
        Stage("train", tuple(train), note),
        Stage("average", averaged, folder / "average.pt.json"),
        *(stage for subset in grid.subsets for stage in _scoring(grid, corpus, folder, settings.decoding, subset)),
    )


def _scoring(grid: Grid, corpus: Corpus, folder: Path, decoding: list[str], subset: str) -> tuple[Stage, Stage]:
    """The first subset's translation measures the validation loss, too."""
    first = subset == grid.subsets[0]
    name = "" if first else f" {subset}"
    translation, record = place(folder, "translation", subset), place(folder, "run", subset, ".json")
    asked = ("--validate",) if first else ()
    of = () if subset == "test" else ("--subset", subset)
    translate = ("translate", str(folder / "average.pt"), *corpus.translate, *of, *decoding, *asked)
    score = ("score", str(translation), "--training", str(folder / "train.json"), *corpus.score(subset))
    return (
        Stage(f"translate{name}", (*translate, "--output", str(translation)), translation / "translation.json"),
        Stage(f"score{name}", (*score, "--output", str(record)), record),
    )


def place(folder: Path, name: str, subset: str, ending: str = "") -> Path:
    """As the recipes call them: of test run.json, of test1 run-test1.json."""
    return folder / (f"{name}{ending}" if subset == "test" else f"{name}-{subset}{ending}")
