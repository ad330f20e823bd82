"""`realformer-nmt significance A.json B.json ...`: is the difference to A real, or chance of the test set?"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from sacrebleu.significance import PairedTest
from tabulate import tabulate

from realformer_nmt.common import json_records, outputs, sealed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import PROCESSES, SAMPLES, SEEDS, whole
from realformer_nmt.common.option import argument, option
from realformer_nmt.common.provenance import MADE_FROM
from realformer_nmt.common.request import Request
from realformer_nmt.common.text_lines import read_recorded
from realformer_nmt.corpora.stages import write_json
from realformer_nmt.evaluation import metric_table, metrics

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
    source: str | None = None  # its language
    source_sha256: str | None = None  # of a text of the user's own


@dataclass(frozen=True)
class Comparison:
    system: str
    metric: str
    score: float
    difference: float  # to the baseline
    p: float
    p_holm: float
    significant: bool
    better: bool  # than the baseline, by this score


@dataclass(frozen=True, kw_only=True)
class SignificanceRequest(Request):
    """Test each run against the first, the baseline; p is corrected for the number of tests (Holm)."""

    subcommand: ClassVar[str] = "significance"
    examples: ClassVar[str] = (
        "example: realformer-nmt significance runs/pre_ln.json runs/admin.json runs/realformer.json"
    )

    runs: tuple[Path, ...] = argument("two or more files of `realformer-nmt score`", metavar="RUN.JSON")
    test: str = option("ar (default): approximate randomisation; bs: bootstrap", "ar", choices=TESTS)
    metrics: tuple[str, ...] = option(
        f"one or more of {', '.join(metric_table.tested())}", ("bleu",), choices=metric_table.tested(), metavar="METRIC"
    )
    samples: int = option(default=10_000, metavar="N", range=whole(1, SAMPLES))
    seed: int = option(default=12345, metavar="N", range=whole(1, SEEDS))
    jobs: int = option("processes at a time (default: 1)", 1, metavar="N", range=whole(1, PROCESSES))
    output: Path | None = option("also write the comparisons to this file", None, metavar="FILE.JSON")

    def run(self) -> int:
        return run(self)


REQUEST = SignificanceRequest


def run(request: SignificanceRequest) -> int:
    if len(request.runs) < 2:
        raise UserError(f"{request.runs[0]} alone: give two runs or more, the baseline first")
    if request.output:
        outputs.check_record(request.output, "significance")
    systems = [read(path) for path in request.runs]
    demand_same_test(request.runs, systems)
    found = compare(systems, request.metrics, request.test, request.samples, request.seed, request.jobs)
    print(table(systems[0], found, request))
    if request.output:
        test = {"test": TESTS[request.test], "samples": request.samples, "seed": request.seed, "correction": "Holm"}
        write_json(request.output, {**test, "baseline": systems[0].name, "comparisons": list(map(asdict, found))})
    return 0


def read(path: Path) -> System:
    record = sealed.read(path, WRITER)
    with json_records.expected(path, WRITER):
        files = {name: record["files"][name] for name in ("hypotheses", "reference")}
        places = {name: path.parent / file["path"] for name, file in files.items()}
        test_set = f"{record['corpus']} {record['subset']}"
        hashes = {name: file["sha256"] for name, file in files.items()}
        sources = source(record.get("translation") or {})
    lines = {name: read_recorded(place, hashes[name], path) for name, place in places.items()}
    return System(str(path), test_set, lines["hypotheses"], lines["reference"], hashes["reference"], *sources)


def source(translation: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The language that was translated from, and the hash of the text if it was none of the data-bin's."""
    languages = translation.get("languages") or [None]
    return languages[0], translation.get(MADE_FROM, {}).get("inputs", {}).get("input", {}).get("sha256")


def demand_same_test(paths: Sequence[Path], systems: Sequence[System]) -> None:
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
    """Each system but the first against the first; every test of the call is of one family."""
    named: list[tuple[str, Sequence[str]]] = [(system.name, system.hypotheses) for system in systems]
    rows = {name: metric_table.METRICS[name] for name in names}
    scorers = {name: row.scorer() for name, row in rows.items() if row.scorer}
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)  # it tells each of its steps
    with metrics.seeded(seed):
        test_of_pairs = PairedTest(
            named, scorers, [systems[0].reference], test_type=test, n_samples=samples, n_jobs=jobs
        )
        results: dict[str, Any] = test_of_pairs()[1]
    columns = [name for name in results if name != "System"]  # as sacreBLEU calls them, in the order of ours
    cells = [
        (name, row, place) for place in range(1, len(systems)) for name, row in zip(columns, rows.values(), strict=True)
    ]
    p_values = [p_with_ties(results[name][place].p_value, systems[place], systems[0]) for name, _, place in cells]
    comparisons = []
    for (name, row, place), p, p_holm in zip(cells, p_values, holm(p_values), strict=True):
        own, baseline = results[name][place], results[name][0]
        difference = own.score - baseline.score
        verdict = (p_holm < ALPHA, row.is_better(difference))
        comparisons.append(Comparison(systems[place].name, name, own.score, difference, p, p_holm, *verdict))
    return comparisons


def p_with_ties(p: float, system: System, baseline: System) -> float:
    """sacreBLEU counts only the samples that exceed the difference, so that two equal systems get its smallest p. Of
    the 2^d ways to exchange the d sentences that are not equal, two at least reach the difference: p >= 2^(1-d)."""
    unequal = sum(own != other for own, other in zip(system.hypotheses, baseline.hypotheses, strict=True))
    return max(p, min(1.0, 2.0 ** (1 - unequal)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: of m values in rising order the k-th becomes the largest (m - j + 1) p_j up to j = k, at most 1."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def shown(p: float, bound: bool) -> str:
    """The smallest p that so many samples can give is but a bound of the true one, rounded up as bounds are."""
    return f"< {math.ceil(p * 10_000) / 10_000:.4f}" if bound else f"{p:.4f}"


def signed(difference: float) -> str:
    """What rounds to nothing has no sign."""
    told = f"{difference:+.2f}"
    return told if float(told) else told[1:]


def table(baseline: System, found: Sequence[Comparison], request: SignificanceRequest) -> str:
    smallest = 1 / (request.samples + 1) + 1e-12
    rows = [
        (
            comparison.system,
            comparison.metric,
            f"{comparison.score:.2f}",
            signed(comparison.difference),
            shown(comparison.p, comparison.p <= smallest),
            shown(comparison.p_holm, comparison.p <= smallest),
            ("yes, better" if comparison.better else "yes, worse") if comparison.significant else "no",
        )
        for comparison in found
    ]
    headers = ["run", "metric", "score", "difference", "p", "p (Holm)", f"below {ALPHA}"]
    head = (
        f"baseline {baseline.name}, {len(baseline.reference)} lines; {TESTS[request.test]}, {request.samples} samples"
    )
    return "\n\n".join([head, tabulate(rows, headers, disable_numparse=True), NOTE])
