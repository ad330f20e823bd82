"""`realformer-nmt significance A.json B.json ...`: whether the differences to A are significant."""

import logging
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

from sacrebleu.significance import PairedTest, Result
from tabulate import tabulate

from realformer_nmt.common import outputs, records
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import write_json
from realformer_nmt.common.numbers import PROCESSES, SAMPLES, SEEDS, whole
from realformer_nmt.common.option import argument, option
from realformer_nmt.common.request import Request
from realformer_nmt.common.text_lines import read_recorded
from realformer_nmt.evaluation import agreement, metric_table, metrics
from realformer_nmt.evaluation.run_record import RunRecord, Score
from realformer_nmt.evaluation.segment_mean import SegmentMean, as_lines

TESTS = {"ar": "paired approximate randomisation", "bs": "paired bootstrap"}
WRITER = "`realformer-nmt score` writes it"
ALPHA = 0.05
NOTE = """The test says whether the difference would hold on other sentences like these, not whether it would hold after
another training: for that, train with three seeds or more."""


@dataclass(frozen=True)
class System:
    name: str
    test_set: str  # corpus and subset
    hypotheses: list[str]
    reference: list[str]
    reference_sha256: str
    source: str | None = None  # language
    source_sha256: str | None = None  # of a text that is no subset of the data-bin
    scores: Mapping[str, Score] = field(default_factory=dict)  # by metric

    def lines(self, metric: str) -> list[str]:
        """Return what a metric is computed from: the hypotheses, or of a neural metric the scores of segments."""
        neural = metric_table.METRICS[metric].neural
        return as_lines(self.segments(metric).segments or []) if neural else self.hypotheses

    def signature(self, metric: str) -> str | None:
        return self.scores[metric].signature if metric in self.scores else None

    def model(self, metric: str) -> str:
        """Return the hash of the model of a neural metric."""
        return metrics.signed_with(self.segments(metric).signature).get("sha256", "")

    def segments(self, metric: str) -> Score:
        score = self.scores.get(metric)
        if score is None or not score.segments:
            raise UserError(f"{self.name} has no scores of segments in {metric}: `score --{metric} MODEL` keeps them")
        return score


@dataclass(frozen=True)
class Comparison:
    system: str
    metric: str
    score: float
    difference: float  # to the baseline
    p: float
    p_holm: float
    significant: bool
    better: bool  # than the baseline
    agreement: float | None = None  # per cent of such differences that people see alike


@dataclass(frozen=True, kw_only=True)
class SignificanceRequest(Request):
    """Test each run against the first, the baseline; p is corrected for the number of tests (Holm)."""

    subcommand: ClassVar[str] = "significance"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = (
        "example: realformer-nmt significance runs/pre_ln.json runs/admin.json runs/realformer.json"
    )

    runs: tuple[Path, ...] = argument("two or more files of `realformer-nmt score`", metavar="RUN.JSON")
    test: str = option("ar (default): approximate randomisation; bs: bootstrap", "ar", choices=TESTS)
    metrics: tuple[str, ...] = option(
        f"one or more of {', '.join(metric_table.tested_metrics())}",
        ("bleu",),
        choices=metric_table.tested_metrics(),
        metavar="METRIC",
    )
    samples: int = option(default=10_000, metavar="N", range=whole(1, SAMPLES))
    seed: int = option(default=12345, metavar="N", range=whole(1, SEEDS))
    jobs: int = option("processes at a time (default: 1)", 1, metavar="N", range=whole(1, PROCESSES))
    output: Path | None = option("also write the comparisons to this file", None, metavar="FILE.JSON")


REQUEST = SignificanceRequest


def run(request: SignificanceRequest) -> int:
    if len(request.runs) < 2:
        raise UserError(f"{request.runs[0]} alone: give two runs or more, the baseline first")
    if request.output:
        outputs.check_record(request.output, "significance")
    systems = [read(path) for path in request.runs]
    check_same_test(request.runs, systems)
    comparisons = compare(systems, request.metrics, request.test, request.samples, request.seed, request.jobs)
    print(table(systems[0], comparisons, request))
    if request.output:
        test = {"test": TESTS[request.test], "samples": request.samples, "seed": request.seed, "correction": "Holm"}
        write_json(request.output, {**test, "baseline": systems[0].name, "comparisons": list(map(asdict, comparisons))})
    return 0


def read(path: Path) -> System:
    record = records.read(path, RunRecord, WRITER)
    if not {"hypotheses", "reference"} <= record.files.keys():
        raise UserError(f"{path} is no record of a translation's scores; {WRITER}")
    hypotheses, reference = record.files["hypotheses"], record.files["reference"]
    translation = record.translation or None
    source = translation.made_from.inputs.get("input") if translation else None
    return System(
        name=str(path),
        test_set=f"{record.corpus} {record.subset}",
        hypotheses=read_recorded(path.parent / hypotheses.path, hypotheses.sha256, path),
        reference=read_recorded(path.parent / reference.path, reference.sha256, path),
        reference_sha256=reference.sha256,
        source=translation.languages[0] if translation else None,
        source_sha256=source.sha256 if source else None,
        scores=record.scores,
    )


def check_same_test(paths: Sequence[Path], systems: Sequence[System]) -> None:
    first = systems[0]
    for path, system in zip(paths, systems, strict=True):
        if len(system.reference) != len(first.reference):
            counts = f"{len(system.reference)} lines, {paths[0]} {len(first.reference)}"
            raise UserError(f"{path} has {counts}: compare runs on one test set")
        if system.reference_sha256 != first.reference_sha256:
            sets = f"another reference ({system.test_set}) than {paths[0]} ({first.test_set})"
            raise UserError(f"{path} has {sets}: compare runs on one test set")
        if system.source != first.source and system.source and first.source:
            pair = f"is of a translation from {system.source}, {paths[0]} from {first.source}"
            raise UserError(f"{path} {pair}: compare runs on one test set")
        if system.source_sha256 != first.source_sha256 and system.source_sha256 and first.source_sha256:
            raise UserError(f"{path} is of a translation of another text than {paths[0]}: compare runs on one test set")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError(f"a run is given twice among {', '.join(map(str, paths))}: give each once")


def compare(
    systems: Sequence[System], names: Sequence[str], test: str, samples: int, seed: int, jobs: int
) -> list[Comparison]:
    """Test each system against the first; Holm's correction is over all tests of the call."""
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)  # it logs each of its steps
    with metrics.seeded(seed):
        columns = {name: tested(name, systems, test, samples, jobs) for name in names}
    cells = [(name, index) for index in range(1, len(systems)) for name in columns]
    results = [columns[name].results[index] for name, index in cells]
    p_values = [
        p_with_ties(result.p_value, systems[index], systems[0])
        for (_, index), result in zip(cells, results, strict=True)
    ]
    comparisons = []
    for (name, index), result, p, p_holm in zip(cells, results, p_values, holm(p_values), strict=True):
        difference = result.score - columns[name].results[0].score
        comparison = Comparison(
            system=systems[index].name,
            metric=columns[name].label,
            score=result.score,
            difference=difference,
            p=p,
            p_holm=p_holm,
            significant=p_holm < ALPHA,
            better=metric_table.METRICS[name].is_better(difference),
            agreement=agreement.agreement(name, systems[index].signature(name), difference),
        )
        comparisons.append(comparison)
    return comparisons


class MetricResults(NamedTuple):
    """Results of a metric, a row per system, and sacreBLEU's name of it, or ours of a neural one."""

    label: str
    results: list[Result]


def tested(name: str, systems: Sequence[System], test: str, samples: int, jobs: int) -> MetricResults:
    """Test one metric; the same seed exchanges the same lines for every metric."""
    row = metric_table.METRICS[name]
    if row.neural:
        check_one_model(name, systems)
    scorer = row.scorer or SegmentMean
    lines: list[tuple[str, Sequence[str]]] = [(system.name, system.lines(name)) for system in systems]
    test_of_pairs = PairedTest(
        lines, {name: scorer()}, [systems[0].reference], test_type=test, n_samples=samples, n_jobs=jobs
    )
    ((label, results),) = [column for column in test_of_pairs()[1].items() if column[0] != "System"]
    return MetricResults(row.label if row.neural else label, [each for each in results if isinstance(each, Result)])


def check_one_model(name: str, systems: Sequence[System]) -> None:
    """Refuse segments' scores of several models."""
    models = [system.model(name) for system in systems]
    for system, model in zip(systems, models, strict=True):
        if model != models[0]:
            raise UserError(
                f"{system.name} was scored by another {name} model ({model}) than {systems[0].name} ({models[0]}): "
                "score both by one"
            )


def p_with_ties(p: float | None, system: System, baseline: System) -> float:
    """Return p, raised to what so few different sentences allow.

    sacreBLEU counts only the samples that exceed the difference, so that two equal systems get its smallest p. Of the
    2^d ways to exchange the d sentences that are not equal, two at least reach the difference: p >= 2^(1-d).
    """
    unequal = sum(line != other for line, other in zip(system.hypotheses, baseline.hypotheses, strict=True))
    return max(1.0 if p is None else p, min(1.0, 2.0 ** (1 - unequal)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p (Holm 1979): of m in rising order the k-th is max over j <= k of (m - j + 1) p_j, at most 1."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def shown(p: float, bound: bool) -> str:
    """Return p for a table; the smallest p of the number of samples is only an upper bound, and is rounded up."""
    return f"< {math.ceil(p * 10_000) / 10_000:.4f}" if bound else f"{p:.4f}"


def signed(difference: float) -> str:
    """Return a difference with its sign, or without one if it rounds to 0."""
    text = f"{difference:+.2f}"
    return text if float(text) else text[1:]


def table(baseline: System, comparisons: Sequence[Comparison], request: SignificanceRequest) -> str:
    smallest = 1 / (request.samples + 1) + 1e-12
    rows = []
    for comparison in comparisons:
        is_bound = comparison.p <= smallest
        verdict = "yes, better" if comparison.better else "yes, worse"
        row = [
            comparison.system,
            comparison.metric,
            f"{comparison.score:.2f}",
            signed(comparison.difference),
            shown(comparison.p, is_bound),
            shown(comparison.p_holm, is_bound),
            verdict if comparison.significant else "no",
            agreement.shown(comparison.agreement),
        ]
        rows.append(row)
    headers = ["run", "metric", "score", "difference", "p", "p (Holm)", f"below {ALPHA}", agreement.HEAD]
    notes = [NOTE, textwrap.fill(agreement.MEANING, 110)]
    if not any(row[-1] for row in rows):
        headers, notes, rows = headers[:-1], notes[:1], [row[:-1] for row in rows]
    head = (
        f"baseline {baseline.name}, {len(baseline.reference)} lines; {TESTS[request.test]}, {request.samples} samples"
    )
    return "\n\n".join([head, tabulate(rows, headers, disable_numparse=True), *notes])
