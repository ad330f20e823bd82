"""results.json as classes: what a comparison measured, with the only reader and the only writer of the file."""

from pathlib import Path

from msgspec import Struct, convert, field, to_builtins

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.stages.versions import Machine
from realformer_nmt.comparison.grid.axes import Group, Place
from realformer_nmt.comparison.results import compact_json
from realformer_nmt.comparison.results.cell_result import CellResult, CellScore
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.scoring.published import PublishedFigure

WRITER = "`realformer-nmt compare` writes it"


class MeanScore(Struct, frozen=True, kw_only=True):
    """Mean over the seeds of a row; one seed has no deviation."""

    mean: Number
    deviation: Number | None


class MetricColumn(Struct, frozen=True, kw_only=True):
    name: str  # in METRICS
    label: str
    signature: str | None = None
    higher_is_better: bool


class SignificanceTest(Struct, frozen=True, kw_only=True):
    """Test of a difference between two families."""

    name: str
    metric: str
    samples: int
    correction: str


class Hardware(Machine, frozen=True, kw_only=True):
    """Machine that trained cells, with the GPUs that they used."""

    gpus: list[str] = field(default_factory=list)


class ResultRow(Struct, frozen=True, kw_only=True):
    """Row of the table: the cells of one family, depth and point on the axes, whatever their seeds."""

    family: str
    layers: list[int]
    depth: str
    axes: dict[str, Number] = {}
    cells: list[str] = []
    seeds: int  # that are done and scored by the metric that is drawn; if none is, by any
    failed: int
    states: list[str]
    scores: dict[str, MeanScore] = {}
    parameters: Number | None = None
    tokens_a_second: Number | None = None
    hours: Number | None = None
    delta: dict[str, Number] | None = None  # to the baseline at the same place, by metric
    p: Number | None = None
    p_holm: Number | None = None
    p_is_bound: bool = False
    p_best: Number | None = None
    best: bool = False
    tried: int | None = None  # settings, of a row of the tuned table


class OutsideRow(Struct, frozen=True, kw_only=True):
    """Translation that was not made here, beside the baseline's row at one place."""

    name: str
    file: str
    sha256: str
    scores: dict[str, CellScore]
    depth: str | None = None  # the baseline's, and its layers and axes
    layers: list[int] = []
    axes: dict[str, Number] = {}
    delta: dict[str, Number] = {}
    p: Number | None = None
    p_holm: Number | None = None
    p_is_bound: bool = False


class SubsetTable(Struct, frozen=True, kw_only=True):
    """Table of one more test set."""

    subset: str
    lines: int | None
    metrics: list[MetricColumn]
    rows: list[ResultRow]


class TunedTable(Struct, frozen=True, kw_only=True):
    """Each family with the values of these axes that had the lowest validation loss."""

    axes: list[str]
    seeds: list[int] = []  # whose losses choose
    rows: list[ResultRow]


class ExampleSentence(Struct, frozen=True, kw_only=True):
    source: str
    reference: str
    hypotheses: dict[str, str]  # by the names of cells


class ClaimResult(Struct, frozen=True, kw_only=True):
    paper: str
    predicted: str
    measured: str
    agrees: bool


class AnalysisResult(Struct, frozen=True, kw_only=True):
    folder: str
    cells: list[str]
    subset: str
    figures: list[str]  # files in the folder
    claims: list[ClaimResult]


class Results(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    created: str
    complete: bool
    grid: str  # its text
    command: str
    commit: str | None
    versions: dict[str, str]
    hardware: list[Hardware]
    corpus: str
    languages: list[str]
    metric: str  # that is drawn
    baseline: str
    axes: list[str] = []
    overrides: list[str]
    versions_apart: list[str] = []
    test: SignificanceTest
    published: list[PublishedFigure]
    unit: str = "lines"
    cells: list[CellResult]
    subset: str
    lines: int | None
    metrics: list[MetricColumn]
    rows: list[ResultRow]
    tuned: TunedTable | None = None
    further: list[SubsetTable] = []
    outside: list[OutsideRow] = []
    examples: list[ExampleSentence]
    analyses: list[AnalysisResult] = []


def metric_column(name: str) -> MetricColumn:
    """Return the column of a metric before anything is scored in it."""
    metric = METRICS[name]
    return MetricColumn(name=name, label=metric.label, higher_is_better=metric.higher_is_better)


def read(path: Path) -> Results:
    """Read a results.json."""
    content = json_records.read(path, WRITER)
    with json_records.expected(path, WRITER):
        return convert(compact_json.expanded(content), Results)


def write(path: Path, results: Results) -> None:
    """Write the whole file or none."""
    with completed(path) as file:
        file.write(compact_json.text(compact_json.compact(to_builtins(results))).encode())


def place(entry: CellResult | ResultRow) -> Place:
    """Return the depth and the point on the axes: rows at one place are compared."""
    return entry.depth, tuple(entry.axes.items())


def group(entry: CellResult | ResultRow) -> Group:
    """Return the family and its place: what the cells of one row share, whatever their seeds."""
    return entry.family, place(entry)
