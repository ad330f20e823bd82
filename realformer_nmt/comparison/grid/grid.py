"""A grid of trainings, read from a TOML file: the corpus, what is compared, and what differs in single cells.

Paths in it are relative to its folder.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.numbers import SEED
from realformer_nmt.common.requests.option import option
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.requests.toml_tables import TableError, build_table, merge, read_toml
from realformer_nmt.comparison.grid import axes
from realformer_nmt.comparison.grid.cell import USUAL, Failure, Named
from realformer_nmt.comparison.grid.grid_table import ELSEWHERE, check_budget, check_places, with_texts
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.evaluation.metrics import metric_table
from realformer_nmt.protocols import command
from realformer_nmt.protocols.allowed_flags import check_flags
from realformer_nmt.protocols.protocol import spellings_of
from realformer_nmt.tasks import TASKS, TRANSLATION

PARTS = re.compile("{family}|{layers}|{seed}")  # of what a cell begins with


@dataclass(frozen=True)
class Override:
    """Other settings for some cells: those with this family, these layers, this seed and these values on the axes."""

    family: str | None = None
    layers: str | None = None
    seed: int | None = None
    axes: dict[str, float] | None = None  # values
    train: dict[str, object] | None = None
    budget: dict[str, object] | None = None

    def meets(self, cell: Named) -> bool:
        return (
            self.family in (None, cell.family)
            and self.layers in (None, cell.layers)
            and self.seed in (None, cell.seed)
            and (self.axes or {}).items() <= set(cell.point)
        )

    def __str__(self) -> str:
        """Return `resi_dual 18 (epochs 4)`."""
        cells = [self.family, self.layers, None if self.seed is None else f"seed {self.seed}"]
        cells += [f"{name} {value}" for name, value in (self.axes or {}).items()]
        changes = [f"{name} {value}" for table in (self.train, self.budget) for name, value in (table or {}).items()]
        return f"{' '.join(filter(None, cells)) or 'all'} ({', '.join(changes)})"


@dataclass(frozen=True, kw_only=True)
class DataBin:
    """A data-bin that `realformer-nmt prepare` did not make, with the options of `translate` and `score` for it."""

    folder: str
    subwords: str = option(choices=METHODS)
    reference: str  # of the first subset, raw
    references: dict[str, str] | None = None  # of each further one
    subwords_folder: str | None = None
    hyphens: Literal["aggressive", "plain"] | None = None


@dataclass(frozen=True)
class Grid:
    name: str
    written: str  # the text of the file
    folder: Path  # of the file
    families: tuple[str, ...]
    layers: tuple[str, ...]
    seeds: tuple[int, ...] = (1,)
    task: str = TRANSLATION
    kind: str | None = None  # of models, where the task has several; the protocol's
    protocol: str = "realformer"
    corpus: str | None = None  # to be prepared, by its name or manifest
    prepared: str | None = None  # a folder of `realformer-nmt prepare`
    data: DataBin | None = None
    pretrained: str | None = None  # what each cell begins with: the folder of a comparison, or {family}-{layers}.pt
    prepare: dict[str, object] | None = None
    train: dict[str, object] | None = None  # flags of fairseq-train
    budget: dict[str, object] | None = None
    slurm: dict[str, object] | None = None  # options of the jobs
    failure: Failure = USUAL
    axes: dict[str, list[float]] | None = None  # the values on each, beside families, layers and seeds
    tune: tuple[str, ...] = ()  # axes whose value is chosen for each family on the validation data
    tune_seeds: tuple[int, ...] = ()  # that it is chosen with; the others are trained with what was chosen alone
    override: tuple[Override, ...] = ()
    baseline: str | None = None  # a family
    metric: str | None = None  # the one that is drawn; the first of the task
    comet: str | None = None  # the model of this metric: a folder, a checkpoint or the hub's name
    subsets: tuple[str, ...] = ("test",)  # of the data-bin; the examples and plots are of the first
    title: str | None = None  # of the report; else made of corpus, families and layers
    retries: int = 2  # of a cell that an infrastructure fault ended

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(not_allowed("task", self.task, TASKS))
        for name in ("families", "layers", "seeds", "subsets"):
            values = getattr(self, name)
            if not values:
                raise ValueError(f"{name}: is empty, so nothing is compared; name one or more")
            twice = [str(value) for value in dict.fromkeys(values) if values.count(value) > 1]
            if twice:
                raise ValueError(f"{name}: {twice[0]} is named twice; name each once")
        for seed in self.seeds:
            SEED.check("seeds:", seed)
        if self.retries < 0:
            raise ValueError(f"retries: {self.retries}: allowed is a whole number, 0 or more")
        self._check_axes()
        self._check_values()
        self._check_lengths()
        if sum(origin is not None for origin in (self.corpus, self.prepared, self.data)) > 1:
            raise ValueError("corpus, prepared and data each say what is translated: give one of them")
        if self.prepare and self.corpus is None:
            raise ValueError("[prepare] says how corpus is prepared: give corpus too, or leave [prepare] out")
        if re.search("[{}]", PARTS.sub("", self.pretrained or "")):
            raise ValueError(f"pretrained: {self.pretrained}: allowed in braces are family, layers and seed")

    def _check_values(self) -> None:
        try:
            for family in (*self.families, *(rule.family for rule in self.override if rule.family)):
                command.check_family("family", family)
                command.name_of(TASKS[self.task], family, self.kind)
            for layers in (*self.layers, *(rule.layers for rule in self.override if rule.layers)):
                command.layers(layers, TASKS[self.task].sides)
        except UserError as error:
            raise ValueError(str(error).removeprefix("--")) from error
        for layers in self.layers:
            other = next((each for each in self.layers if each != layers and each in spellings_of(layers)), None)
            if other:
                raise ValueError(f"layers: {layers} and {other} are the same depth; name it once")
        for rule in self.override:
            if not any(map(rule.meets, self.cells())):
                raise ValueError(f"an override for {rule} matches no cell of this grid")
        if self.baseline is not None and self.baseline not in self.families:
            raise ValueError(not_allowed("baseline", self.baseline, self.families))
        metrics = [*metric_table.drawn(self.task), *metric_table.drawn(self.task, numbers=True)]
        if self.drawn not in metrics:
            raise ValueError(not_allowed("metric", self.drawn, list(dict.fromkeys(metrics))))
        if self.drawn in metric_table.neural_metrics() and not getattr(self, self.drawn, None):
            raise ValueError(f'metric: {self.drawn} is computed by a model: name it, {self.drawn} = "MODEL"')
        if self.comet and self.data:
            raise ValueError("comet reads the raw source, which [data] does not name: give corpus or prepared instead")
        for subset in self.subsets:
            safe_names.plain(subset)
        if self.data and set(self.data.references or {}) != set(self.subsets[1:]):
            further = ", ".join(self.subsets[1:]) or "none, as subsets names only one"
            raise ValueError(f"data.references: give a raw text for each subset after the first: {further}")
        for budget in (self.budget, *(rule.budget for rule in self.override)):
            check_budget(budget or {})
        for flags in (self.train, *(rule.train for rule in self.override)):
            check_flags(flags or {}, ELSEWHERE)

    def _check_lengths(self) -> None:
        """Refuse a cell whose [budget] and overrides together give both epochs and updates."""
        for cell in self.cells():
            if {"epochs", "updates"} <= self.options("budget", cell).keys():
                rules = [f"override for {rule}" for rule in self.override if rule.budget and rule.meets(cell)]
                raise ValueError(
                    f"{cell.family} {cell.layers} seed {cell.seed} has epochs and updates, by "
                    f"{' and '.join(['[budget]', *rules])}: give its length in one of the two"
                )

    def _check_axes(self) -> None:
        along = self.axes or {}
        axes.check(along)
        for table in ("train", "budget"):
            axes.check_free(along, table, getattr(self, table) or {})
            for rule in self.override:
                axes.check_free(along, table, getattr(rule, table) or {})
        if self.data and "data" in along:
            raise ValueError("data is an axis of this grid, and [data] names a data-bin alone: give corpus or prepared")
        for name in self.tune:
            if name not in along:
                raise ValueError(f"tune: {name} is no axis of this grid; its axes are {', '.join(along) or 'none'}")
        if self.tune_seeds and not (self.tune and set(self.tune_seeds) < set(self.seeds)):
            raise ValueError(
                f"tune_seeds: {list(self.tune_seeds)}: allowed are some of the seeds, not all, beside tune; seeds is "
                f"{list(self.seeds)}, tune is {list(self.tune)}"
            )

    @property
    def shares(self) -> list[float]:
        """Shares of the corpus that cells are trained on."""
        return (self.axes or {}).get("data", [])

    @property
    def drawn(self) -> str:
        numbers = bool((self.train or {}).get("regression-target"))
        return next(iter(metric_table.drawn(self.task, numbers))) if self.metric is None else self.metric

    def cells(self) -> Iterator[Named]:
        """Yield the product of all values, the seeds of one setting one after the other."""
        along = self.axes or {}
        points = [tuple(zip(along, values, strict=True)) for values in product(*along.values())]
        for family, depth, point, seed in product(self.families, self.layers, points, self.seeds):
            yield Named(family, depth, seed, point)

    def with_seeds(self, number: int) -> "Grid":
        """Return the grid with so many more seeds, counted on from its largest."""
        first = max(self.seeds) + 1
        return replace(self, seeds=(*self.seeds, *range(first, first + number)))

    def options(self, table: str, cell: Named) -> Mapping[str, Any]:
        """Return [train] or [budget] of a cell, with the axes and the overrides; a later override wins."""
        options = {**(getattr(self, table) or {}), **axes.options(table, cell.point, TASKS[self.task].sides)}
        for rule in self.override:
            if rule.meets(cell):
                options = merge(options, getattr(rule, table) or {})
        return options

    @property
    def comet_model(self) -> str | None:
        """Return the model as `score --comet` names it: a path from the grid's folder, or a name of the hub."""
        file = self.path(self.comet) if self.comet else None
        return str(file) if file and file.exists() else self.comet

    def path(self, written: str) -> Path:
        try:
            return self.folder / safe_names.anywhere(written)
        except ValueError as error:
            raise UserError(f"{self.name}.toml: {error}") from error

    def file_or_name(self, written: str) -> str:
        """Return the path of a TOML file, or the name of a protocol or corpus that is shipped."""
        return str(self.path(written)) if written.endswith(".toml") else written


def load(file: Path, original: Path | None = None) -> Grid:
    """Return the grid of a file, which may be a copy: paths in it are relative to the folder of the original."""
    table = read_toml(file, "give a grid, such as, in a clone, recipes/quickstart/grid.toml")
    named = original or file
    try:
        values = {"written": file.read_text(encoding="utf-8"), "folder": named.parent, "name": named.stem}
        check_places(table, {each.name for each in fields(Grid)} - {*values, *axes.AXES})
        grid: Grid = build_table(Grid, with_texts(table), "", values)
    except TableError as error:
        raise UserError(f"{file}: {error}") from error
    return grid
