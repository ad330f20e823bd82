"""`realformer-nmt significance A B ...`: whether the differences to A are significant."""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from sacrebleu.metrics.base import Metric, Score
from tabulate import tabulate

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.json_records import write_json
from realformer_nmt.common.numbers import SAMPLES, SEEDS, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages import outputs
from realformer_nmt.evaluation import agreement, tested_system
from realformer_nmt.evaluation.metrics import metric_table
from realformer_nmt.evaluation.metrics.segment_mean import SegmentMean
from realformer_nmt.evaluation.p_values import ALPHA, holm, is_bound, shown
from realformer_nmt.evaluation.tested_system import System, check_same_test, read

TEST = "paired approximate randomisation"
BLOCK = 128  # samples at a time; for a multiple of 32 numpy draws the same as for all samples at once
ROUNDING = 1e-9  # sums in another order differ in their last digits
NOTE = """The test says whether the difference would hold on other sentences like these, not whether it would hold after
another training: for that, train with three seeds or more."""


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
        "example: realformer-nmt significance runs/cells/pre_ln-18-s1 runs/cells/realformer-18-s1 --metrics bleu chrf"
    )

    runs: tuple[Path, ...] = argument(
        "two or more runs: their folders, whose run.json is read, or files of `realformer-nmt score`",
        metavar="RUN",
        parse=tested_system.parse_run,
    )
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
    check_same_test(request.runs, systems)
    comparisons = compare(systems, request.metrics, request.samples, request.seed)
    print(table(systems[0], comparisons, request))
    if request.output:
        test = {
            "written_by": outputs.writer("significance"),
            "test": TEST,
            "samples": request.samples,
            "seed": request.seed,
            "correction": "Holm",
        }
        write_json(request.output, {**test, "baseline": systems[0].name, "comparisons": list(map(asdict, comparisons))})
    return 0


def compare(systems: Sequence[System], names: Sequence[str], samples: int, seed: int) -> list[Comparison]:
    """Test each system against the first; Holm's correction is over all tests of the call."""
    columns = {name: scores(name, systems) for name in names}
    cells = [
        (name, index, columns[name][index].score - columns[name][0].score)
        for index in range(1, len(systems))
        for name in columns
    ]
    p_values = [  # every exchange reaches a difference of 0
        p_of_exchanges(name, systems[index], systems[0], samples, seed) if difference else 1.0
        for name, index, difference in cells
    ]
    return [
        Comparison(
            system=systems[index].name,
            metric=metric_table.METRICS[name].label if metric_table.METRICS[name].neural else columns[name][index].name,
            score=columns[name][index].score,
            difference=difference,
            p=p,
            p_holm=p_holm,
            significant=p_holm < ALPHA,
            better=metric_table.METRICS[name].is_better(difference),
            agreement=agreement.agreement(name, systems[index].signature(name), difference),
        )
        for (name, index, difference), p, p_holm in zip(cells, p_values, holm(p_values), strict=True)
    ]


def p_of_exchanges(name: str, system: System, baseline: System, samples: int, seed: int) -> float:
    """Return the p of sampled exchanges, at least what so few different sentences allow.

    sacreBLEU counts only the samples that exceed the difference. Two equal systems would get its smallest p, and so
    would two of which each sentence changes the score by as much.
    """
    exchanges = Exchanges(scorer(name), system.lines(name), baseline.lines(name), baseline.reference)
    return max(exchanges.p_of_samples(samples, seed), exchanges.smallest_p())


class Exchanges:
    """Statistics of two systems' sentences; sentences that are equal in both are summed apart."""

    def __init__(
        self, metric: Metric, system: Sequence[str], baseline: Sequence[str], reference: Sequence[str]
    ) -> None:
        rows = [
            np.array(metric._extract_corpus_statistics(lines, [reference]), dtype=float) for lines in (system, baseline)
        ]
        self.unequal = (rows[0] != rows[1]).any(axis=1)
        self.metric, self.number = metric, int(self.unequal.sum())
        self.same = rows[0][~self.unequal].sum(axis=0)
        self.system, self.baseline = (each[self.unequal] for each in rows)  # sentences x statistics

    def smallest_p(self) -> float:
        """Return 2^(1-d): of the 2^d ways to exchange d sentences two at least, all and none, reach the difference."""
        return min(1.0, 2.0 ** (1 - self.number))

    def p_of_samples(self, samples: int, seed: int) -> float:
        """Return the share of sampled exchanges that reach the difference; the samples are those of sacreBLEU.

        sacreBLEU's own p counts only those that exceed the difference, and is smaller if some equal it.
        """
        generator = np.random.default_rng(seed)
        least = self._differences(np.zeros((1, self.number), dtype=bool))[0] * (1 - ROUNDING)
        reached = 0
        for start in range(0, samples, BLOCK):
            shape = (min(BLOCK, samples - start), len(self.unequal))
            exchanged = generator.integers(2, size=shape, dtype=bool)[:, self.unequal]
            reached += int((self._differences(exchanged) >= least).sum())
        return (reached + 1) / (samples + 1)

    def _differences(self, exchanged: np.ndarray) -> np.ndarray:
        """Return the absolute difference of the two systems for each row of sentences to exchange."""
        one = self._scores(~exchanged @ self.system + exchanged @ self.baseline)
        other = self._scores(~exchanged @ self.baseline + exchanged @ self.system)
        distances: np.ndarray = np.abs(one - other)
        return distances

    def _scores(self, unequal: np.ndarray) -> np.ndarray:
        """Return the score of each row of summed statistics of the unequal sentences."""
        return np.array([self.metric._aggregate_and_compute([row]).score for row in self.same + unequal])


def scores(name: str, systems: Sequence[System]) -> list[Score]:
    """Return each system's score, with sacreBLEU's name of the metric."""
    if metric_table.METRICS[name].neural:
        check_one_model(name, systems)
    return [scorer(name).corpus_score(system.lines(name), [system.reference]) for system in systems]


def scorer(name: str) -> Metric:
    """Return the metric; a neural one is the mean of the scores of segments."""
    return (metric_table.METRICS[name].scorer or SegmentMean)()


def check_one_model(name: str, systems: Sequence[System]) -> None:
    """Refuse segments' scores of several models."""
    models = [system.model(name) for system in systems]
    for system, model in zip(systems, models, strict=True):
        if model != models[0]:
            raise UserError(
                f"{system.name} was scored by another {name} model ({model}) than {systems[0].name} ({models[0]}): "
                "score both by one"
            )


def signed(difference: float) -> str:
    """Return a difference with its sign, or without one if it rounds to 0."""
    text = f"{difference:+.2f}"
    return text if float(text) else text[1:]


def table(baseline: System, comparisons: Sequence[Comparison], request: SignificanceRequest) -> str:
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
    head = f"baseline {baseline.name}, {len(baseline.reference)} lines; {TEST}, {request.samples} samples"
    return "\n\n".join([head, tabulate(rows, headers, disable_numparse=True), *notes])
