"""The cells of a grid, and the commands from each training to its scores."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints.model_in_run import checkpoint as checkpoint_of
from realformer_nmt.checkpoints.run_files import AVERAGE, RECORD
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid import user_rows
from realformer_nmt.comparison.grid.cell import CELLS, Cell, CellStage, Named, folder_of
from realformer_nmt.comparison.grid.cell_requests import average_request, on_machine
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.evaluation.metrics import metric_table
from realformer_nmt.protocols import fairseq_command
from realformer_nmt.protocols.command import flags
from realformer_nmt.protocols.protocol import load, shipped
from realformer_nmt.protocols.trackers import TrackerOptions
from realformer_nmt.protocols.train import TrainRequest

INTERVAL = 20  # updates between two points of a curve


def cells(grid: Grid, corpus: CorpusChoice, request: CompareRequest, gpus: int) -> list[Cell]:
    """Return all cells of a grid; `gpus` is the number per cell."""
    differences = tuple(corpus.differences())
    return [replace(cell(grid, corpus, request, named, gpus), corpus_differences=differences) for named in grid.cells()]


def cell(grid: Grid, corpus: CorpusChoice, request: CompareRequest, named: Named, gpus: int) -> Cell:
    train = train_request(grid, corpus, request, named)
    # where `prepare` made nothing, training knows no corpus by name
    name = corpus.name if corpus.text.prepared else fairseq_command.preparation(train).name
    protocol = load(train.protocol, name, train.layers)
    # settings of the protocol that the cell's [train] sets to false, which no flag of fairseq-train can say
    options = grid.options("train", named)
    without = tuple(name for name, value in options.items() if value is False and name in protocol.train)
    train = replace(train, without=without)
    of_training = request.user_dir if request.user_dir and user_rows.needs(train, corpus) else None
    average = average_request(train, protocol)
    return Cell(
        named.family,
        named.layers,
        named.seed,
        train.folder,
        data=train.data,
        languages=corpus.pair(),
        train=CellStage("train", on_machine(train, gpus, of_training), train.folder / RECORD),
        average=CellStage("average", on_machine(average, gpus, request.user_dir), train.folder / f"{AVERAGE}.json"),
        scorings=tuple(
            replace(stage, request=on_machine(stage.request, gpus, request.user_dir))
            for subset in grid.subsets
            for stage in scoring_of(grid.task).stages(grid, corpus, train.folder, protocol, subset)
        ),
        failure=grid.failure,
        retries=grid.retries,
        point=named.point,
        task=grid.task,
        subset=grid.subsets[0],
    )


def train_request(grid: Grid, corpus: CorpusChoice, request: CompareRequest, named: Named) -> TrainRequest:
    budget = {name.replace("-", "_"): value for name, value in grid.options("budget", named).items()}
    return TrainRequest(
        data=corpus.sample(dict(named.point).get("data", 1)).data,
        folder=folder_of(named, request.folder),
        arch=named.family,
        kind=grid.kind,
        layers=named.layers,
        protocol=grid.file_or_name(grid.protocol),
        curves=True,
        begin_with=beginning(grid, named),
        flags=tuple(flags({"log-interval": INTERVAL, **grid.options("train", named), "seed": named.seed})),
        corpus=corpus.planned_name,
        subwords=corpus.planned_subwords,
        **budget,
        **{**request.as_options(TrackerOptions), "aim_repo": request.aim_repo and request.aim_repo.absolute()},
    )


def beginning(grid: Grid, named: Named) -> Path | None:
    """Return the model that a training begins with: in the folder of a comparison the cell of the same family and
    depth, of the same seed or, where all cells have one seed, of that."""
    if grid.pretrained is None:
        return None
    model = grid.path(grid.pretrained.format(family=named.family, layers=named.layers, seed=named.seed))
    if not (model / CELLS).is_dir():
        return checkpoint_of(model)
    names = [path.name for path in (model / CELLS).glob("[!.]*-s*[0-9]")]  # trained to the end or not
    seeds = {int(number) for name in names if (number := name.rpartition("-s")[2]).isdecimal()}
    seed = seeds.pop() if len(seeds) == 1 else named.seed
    return folder_of(named._replace(point=(), seed=seed), model) / AVERAGE


def check_one_task(grid: Grid) -> None:
    """Refuse a protocol of another task, before a data-bin of that task is looked for."""
    settings = load(grid.file_or_name(grid.protocol))
    check_metric(grid, {**settings.train, **(grid.train or {})})
    if settings.task != grid.task:
        protocols = [name for name in shipped() if load(name).task == grid.task]
        raise UserError(
            f"{grid.name}.toml: protocol {settings.name} is of --task {settings.task}, and the grid's task is "
            f"{grid.task}: name another task, or {', '.join(protocols)} or your own FILE.toml"
        )


def check_metric(grid: Grid, train: Mapping[str, Any]) -> None:
    """Refuse a metric that does not suit the labels: classes, or numbers."""
    metrics = metric_table.drawn(grid.task, bool(train.get("regression-target")))
    if grid.drawn not in metrics:
        raise UserError(f"{grid.name}.toml: {not_allowed('metric', grid.drawn, metrics)}, with these labels")
