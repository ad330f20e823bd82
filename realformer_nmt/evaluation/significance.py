"""`realformer-nmt significance A B ...`: whether the differences to A are significant."""

import logging
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar

from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result
from tabulate import tabulate

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.json_records import write_json
from realformer_nmt.common.numbers import SAMPLES, SEEDS, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages import outputs
from realformer_nmt.evaluation import agreement, tested_system
from realformer_nmt.evaluation.exchanges import Exchanges
from realformer_nmt.evaluation.metrics import metric_table, metrics
from realformer_nmt.evaluation.metrics.segment_mean import SegmentMean
from realformer_nmt.evaluation.p_values import ALPHA, holm, is_bound, shown
from realformer_nmt.evaluation.tested_system import System, check_same_test, read

TESTS = {"ar": "paired approximate randomisation", "bs": "paired bootstrap"}
NOTE = """The test says whether the difference would hold on other sentences like these, not whether it would hold after
another training: for that, train with three seeds or more."""


@dataclass(frozen=True, kw_only=True)
class SystemTest:
    system: str
    metric: str
    score: float
    difference: float  # to the baseline
    p: float
    p_holm: float = 1.0  # corrected for all tests of the call
    significant: bool = False
    better: bool  # than the baseline
    agreement: float | None = None  # per cent of such differences that people see alike


@dataclass(frozen=True, kw_only=True)
class SignificanceRequest(Request):
    """Test each run against the first, the baseline; p is corrected for the number of tests (Holm)."""

    subcommand: ClassVar[str] = "significance"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = (
        "example: realformer-nmt significance runs/cells/pre_ln-18-s1 runs/cells/realformer-18-s1 --metrics bleu chrf"
    )

    runs: tuple[Path, ...] = argument(
        "two or more runs: their folders, whose run.json is read, or files of `realformer-nmt score`",
        metavar="RUN",
        parse=tested_system.parse_run,
    )
    test: str = option("ar (default): approximate randomisation; bs: bootstrap", "ar", choices=TESTS)
    metrics: tuple[str, ...] = option(
        f"one or more of {', '.join(metric_table.tested_metrics())}",
        ("bleu",),
        choices=metric_table.tested_metrics(),
        metavar="METRIC",
    )
    samples: int = option("samples of each test (default: 10000)", 10_000, metavar="N", range=whole(1, SAMPLES))
    seed: int = option("seed of the samples (default: 12345)", 12345, metavar="N", range=whole(1, SEEDS))
    output: Path | None = option("also write the comparisons to this file", None, metavar="FILE.JSON")


REQUEST = SignificanceRequest


def run(request: SignificanceRequest) -> int:
    if len(request.runs) < 2:
        raise UserError(f"{request.runs[0]} alone: give two runs or more, the baseline first")
    if request.output:
        outputs.check_record(request.output, "significance")
    systems = [read(path) for path in request.runs]
    check_same_test(systems)
    comparisons = compare(systems, request.metrics, request.test, request.samples, request.seed)
    print(table(systems[0], comparisons, request))
    if request.output:
        test = {
            "written_by": outputs.writer("significance"),
            "test": TESTS[request.test],
            "samples": request.samples,
            "seed": request.seed,
            "correction": "Holm",
        }
        write_json(request.output, {**test, "baseline": systems[0].name, "comparisons": list(map(asdict, comparisons))})
    return 0


def compare(systems: Sequence[System], names: Sequence[str], test: str, samples: int, seed: int) -> list[SystemTest]:
    """Test each system against the first; Holm's correction is over all tests of the call."""
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)  # it logs each of its steps
    with metrics.seeded(seed):
        columns = {name: tested(name, systems, test, samples) for name in names}
    comparisons = []
    for index, system in enumerate(systems[1:], 1):
        for name, (label, results) in columns.items():
            difference = results[index].score - results[0].score
            of_bootstrap = results[index].p_value if test == "bs" else None
            p = 1.0  # of no difference, which every exchange reaches
            if difference:
                p = p_with_ties(name, system, systems[0], of_bootstrap, samples, seed)
            comparison = SystemTest(
                system=system.name,
                metric=label,
                score=results[index].score,
                difference=difference,
                p=p,
                better=metric_table.METRICS[name].is_better(difference),
                agreement=agreement.agreement(name, system.signature(name), difference),
            )
            comparisons.append(comparison)
    corrected = holm([comparison.p for comparison in comparisons])
    return [
        replace(comparison, p_holm=p, significant=p < ALPHA)
        for comparison, p in zip(comparisons, corrected, strict=True)
    ]


def p_with_ties(
    name: str, system: System, baseline: System, of_bootstrap: float | None, samples: int, seed: int
) -> float:
    """Return the p of a bootstrap or of sampled exchanges, at least what so few different sentences allow.

    sacreBLEU counts only the samples that exceed the difference. Two equal systems would get its smallest p, and so
    would two of which each sentence changes the score by as much.
    """
    exchanges = Exchanges(scorer(name), system.lines(name), baseline.lines(name), baseline.reference)
    p = exchanges.p_of_samples(samples, seed) if of_bootstrap is None else of_bootstrap
    return max(p, exchanges.smallest_p())


def tested(name: str, systems: Sequence[System], test: str, samples: int) -> tuple[str, list[Result]]:
    """Test one metric, and return sacreBLEU's name of it, or ours of a neural one, and a result per system.

    The same seed exchanges the same lines for every metric.
    """
    row = metric_table.METRICS[name]
    if row.neural and len({system.model(name) for system in systems}) > 1:
        models = ", ".join(f"{system.name} by {system.model(name)}" for system in systems)
        raise UserError(f"several {name} models have scored these runs ({models}): score all by one")
    lines: list[tuple[str, Sequence[str]]] = [(system.name, system.lines(name)) for system in systems]
    drawn = samples if test == "bs" else 1  # `p_with_ties` computes the p of exchanges
    scorers, references = {name: scorer(name)}, [systems[0].reference]
    test_of_pairs = PairedTest(lines, scorers, references, test_type=test, n_samples=drawn)
    ((label, results),) = [column for column in test_of_pairs()[1].items() if column[0] != "System"]
    return row.label if row.neural else label, [each for each in results if isinstance(each, Result)]


def scorer(name: str) -> Metric:
    """Return the metric; a neural one is the mean of the scores of segments."""
    return (metric_table.METRICS[name].scorer or SegmentMean)()


def signed(difference: float) -> str:
    """Return a difference with its sign, or without one if it rounds to 0."""
    text = f"{difference:+.2f}"
    return text if float(text) else text[1:]


def table(baseline: System, comparisons: Sequence[SystemTest], request: SignificanceRequest) -> str:
    rows = []
    for comparison in comparisons:
        bound = is_bound(comparison.p, request.samples)
        verdict = "yes, better" if comparison.better else "yes, worse"
        row = [
            comparison.system,
            comparison.metric,
            f"{comparison.score:.2f}",
            signed(comparison.difference),
            shown(comparison.p, bound),
            shown(comparison.p_holm, bound),
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
