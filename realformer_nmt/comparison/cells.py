"""The cells of a grid, and the commands from each training to its scores."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from realformer_nmt.common.choices import unknown
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.cell import Cell, Named, Stage, digest, place
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.comparison.tasks import SCORINGS
from realformer_nmt.evaluation import metric_table
from realformer_nmt.protocols.command import flags
from realformer_nmt.protocols.protocol import load, shipped
from realformer_nmt.protocols.run_files import CHECKPOINTS, RECORD

INTERVAL = 20  # updates between two points of a curve
CELLS = "cells"  # of a comparison


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
    of = (named.family, named.layers, named.seed, own)
    return Cell(*of, data, languages, stages, *said, point=named.point, task=grid.task)


def _stages(grid: Grid, corpus: Corpus, folder: Path, machine: Sequence[str], named: Named) -> tuple[Stage, ...]:
    family, layers, seed, _ = named
    protocol = file_or_name(grid)
    settings, scoring = load(protocol, corpus.name, layers), SCORINGS[grid.task]
    budget = grid.options("budget", named)
    note, average = folder / RECORD, folder / "average.pt"
    of_kind = ("--kind", grid.kind) if grid.kind else ()
    train = [
        *("train", "--data", str(_data(corpus, named)), "--folder", str(folder)),
        *("--arch", family, *of_kind, "--layers", layers),
        *("--protocol", protocol, *corpus.train, *machine, "--curves", *flags(budget), *beginning(grid, named)),
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


def beginning(grid: Grid, named: Named) -> tuple[str, ...]:
    """The model that a training begins with: in the folder of a comparison the cell of the same family and depth, of
    the same seed or the only one."""
    if grid.pretrained is None:
        return ()
    parts = {"family": named.family, "layers": named.layers, "seed": named.seed}
    written = functools.reduce(lambda word, part: word.replace(f"{{{part}}}", str(parts[part])), parts, grid.pretrained)
    given = grid.path(written)
    if not (given / CELLS).is_dir():
        return ("--from", str(given))
    own = place(given, named._replace(point=())).folder / "average.pt"
    others = sorted((given / CELLS).glob(f"{named.family}-{named.layers}-s*/average.pt"))
    return ("--from", str(others[0] if len(others) == 1 else own))


def file_or_name(grid: Grid) -> str:
    """Of the protocol."""
    return str(grid.path(grid.protocol)) if grid.protocol.endswith(".toml") else grid.protocol


def demand_one_task(grid: Grid) -> None:
    """Before a data-bin is looked for, which is that of the task."""
    settings = load(file_or_name(grid))
    demand_metric(grid, {**settings.train, **(grid.train or {})})
    if settings.task != grid.task:
        own = [name for name in shipped() if load(name).task == grid.task]
        raise UserError(
            f"{grid.name}.toml: protocol {settings.name} is of --task {settings.task}, and the grid's task is "
            f"{grid.task}: name another task, or {', '.join(own)} or your own FILE.toml"
        )


def demand_metric(grid: Grid, train: Mapping[str, Any]) -> None:
    """Of what the labels are, where it is of labels."""
    known = metric_table.drawn(grid.task, bool(train.get("regression-target")))
    if grid.drawn not in known:
        raise UserError(f"{grid.name}.toml: {unknown('metric', grid.drawn, known)}, with these labels")


def _data(corpus: Corpus, named: Named) -> Path:
    """That it is trained on."""
    return corpus.sample(dict(named.point).get("data", 1)).data
