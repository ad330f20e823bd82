"""The cells of a grid, and the commands from each training to its scores."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from realformer_nmt.comparison.cell import Cell, Named, Stage, digest, of_subset, place
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.evaluation.metric_table import METRICS, SUMMARY
from realformer_nmt.protocols.command import flags
from realformer_nmt.protocols.protocol import load
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
    return Cell(named.family, named.layers, named.seed, own, data, languages, stages, *said, point=named.point)


def _stages(grid: Grid, corpus: Corpus, folder: Path, machine: Sequence[str], named: Named) -> tuple[Stage, ...]:
    family, layers, seed, _ = named
    protocol = str(grid.path(grid.protocol)) if grid.protocol.endswith(".toml") else grid.protocol
    settings = load(protocol, corpus.name, layers)
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
        *(stage for subset in grid.subsets for stage in _scoring(grid, corpus, folder, settings.decoding, subset)),
    )


def _data(corpus: Corpus, named: Named) -> Path:
    """That it is trained on."""
    return corpus.sample(dict(named.point).get("data", 1)).data


def _scoring(grid: Grid, corpus: Corpus, folder: Path, decoding: list[str], subset: str) -> tuple[Stage, Stage]:
    """The first subset's translation measures the validation loss, too."""
    first = subset == grid.subsets[0]
    name = "" if first else f" {subset}"
    translation, record = of_subset(folder, "translation", subset), of_subset(folder, "run", subset, ".json")
    asked = ("--validate",) if first else ()
    of = () if subset == "test" else ("--subset", subset)
    translate = ("translate", str(folder / "average.pt"), *corpus.translate, *of, *decoding, *asked)
    summary = ("--rouge",) if METRICS[grid.metric].text == SUMMARY else ()
    score = ("score", str(translation), "--training", str(folder / RECORD), *corpus.score(subset), *summary)
    return (
        Stage(f"translate{name}", (*translate, "--output", str(translation)), translation / "translation.json"),
        Stage(f"score{name}", (*score, "--output", str(record)), record),
    )
