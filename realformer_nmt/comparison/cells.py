"""The cells of a grid, and the commands from each training to its scores."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.cell import Cell, Named, Stage, digest, place
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.comparison.tasks import SCORINGS
from realformer_nmt.protocols.command import flags
from realformer_nmt.protocols.protocol import load, shipped
from realformer_nmt.protocols.run_files import CHECKPOINTS, RECORD

INTERVAL = 20  # updates between two points of a curve


def cells(grid: Grid, corpus: Corpus, folder: Path, gpus: int, logging: Sequence[str] = ()) -> list[Cell]:
    """`gpus` for each; `logging`: options of `train` that no grid may ask for."""
    asked = digest(grid.written, grid.folder, grid.protocol)
    machine = ("--gpus", str(gpus), *logging)
    return [_cell(grid, corpus, folder, machine, named, asked) for named in grid.cells()]


def _cell(grid: Grid, corpus: Corpus, folder: Path, machine: Sequence[str], named: Named, asked: str) -> Cell:
    own = place(folder, named).folder
    stages = _stages(grid, corpus, own, machine, named)
    subset = grid.subsets[0]
    data, languages, said = _data(corpus, named), corpus.pair(), (grid.failure, grid.retries, subset, asked)
    return Cell(
        named.family, named.layers, named.seed, own, data, languages, stages, *said, grid.task, point=named.point
    )


def _stages(grid: Grid, corpus: Corpus, folder: Path, machine: Sequence[str], named: Named) -> tuple[Stage, ...]:
    family, layers, seed, _ = named
    protocol = file_or_name(grid)
    settings, scoring = load(protocol, corpus.name, layers), SCORINGS[grid.task]
    budget = grid.options("budget", named)
    note, average = folder / RECORD, folder / "average.pt"
    train = [
        *("train", "--data", str(_data(corpus, named)), "--folder", str(folder), "--arch", family, "--layers", layers),
        *("--protocol", protocol, *corpus.train, *machine, "--curves", *flags(budget)),
        *("--", *flags({"log-interval": INTERVAL, **grid.options("train", named), "seed": seed})),
    ]
    averaging = replace(settings, average=budget.get("average", settings.average)).averaging
    averaged = ("average", str(folder / CHECKPOINTS), *averaging, "--output", str(average))
    return (
        Stage("train", tuple(train), note),
        Stage("average", averaged, folder / "average.pt.json"),
        *(
            stage
            for subset in grid.subsets
            for stage in scoring.stages(grid, corpus, folder, settings.decoding, subset)
        ),
    )


def file_or_name(grid: Grid) -> str:
    """Of the protocol."""
    return str(grid.path(grid.protocol)) if grid.protocol.endswith(".toml") else grid.protocol


def demand_one_task(grid: Grid) -> None:
    """Before a data-bin is looked for, which is that of the task."""
    settings = load(file_or_name(grid))
    if settings.task != grid.task:
        own = [name for name in shipped() if load(name).task == grid.task]
        raise UserError(
            f"{grid.name}.toml: protocol {settings.name} is of --task {settings.task}, and the grid's task is "
            f"{grid.task}: name another task, or {', '.join(own)} or your own FILE.toml"
        )


def _data(corpus: Corpus, named: Named) -> Path:
    """That it is trained on."""
    return corpus.sample(dict(named.point).get("data", 1)).data
