"""A results.json as `realformer-nmt compare` writes it: invented figures, one family stuck deep."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import convert, to_builtins
from msgspec.structs import replace

from realformer_nmt.comparison.results.cell_result import CellCurves, CellResult, CellScore, CurvePoint, ShortcutWeight
from realformer_nmt.comparison.results.results_file import (
    ExampleSentence,
    Hardware,
    MeanScore,
    MetricColumn,
    PublishedFigure,
    ResultRow,
    Results,
    SignificanceTest,
)

FAMILIES = ("post_ln", "pre_ln", "admin", "realformer", "resi_dual")
DEPTHS = {"6": [6, 6], "18": [18, 18]}
BLEU = {"post_ln": 62.0, "pre_ln": 63.1, "admin": 66.4, "realformer": 68.9, "resi_dual": 67.7}
METRICS = [
    MetricColumn(name="bleu", label="sacreBLEU", signature="nrefs:1|case:mixed|eff:no|tok:13a", higher_is_better=True),
    MetricColumn(name="chrf", label="chrF2", signature="nrefs:1|case:mixed|nc:6|nw:0", higher_is_better=True),
    MetricColumn(name="valid_loss", label="validation loss", higher_is_better=False),
]
EXAMPLES = [
    {
        "source": "The old engineer does not open the three red doors.",
        "reference": "Der alte Ingenieur macht die drei roten Türen nicht auf.",
        "wrong": "Der alte Ingenieur macht drei rote Türen auf.",
    },
    {
        "source": "She knows that the child has forgotten the house key.",
        "reference": "Sie weiß, dass das Kind den Haustürschlüssel vergessen hat.",
        "wrong": "Sie weiß, dass das Kind hat die Haustür Schlüssel vergessen.",
    },
]
UPDATES = 400
HOSTILE = (
    """</script></style></svg><img src=x onerror="document.title='run'"><script>document.title='run'</script>'"&\\"""
)
COMMIT = "812aa11fe02c4c1d6cd7b3e1c1b9de3a4d7f0a55"


def sample(
    depths: dict[str, list[int]] | None = None, seeds: int = 3, fails: tuple[str, str] = ("post_ln", "18")
) -> Results:
    depths = depths or DEPTHS
    cells = [
        make_cell(family, depth, layers, seed, "stuck" if (family, depth) == fails else "done")
        for family in FAMILIES
        for depth, layers in depths.items()
        for seed in range(1, seeds + 1)
    ]
    return Results(
        name="quickstart",
        title="quickstart",
        created="2026-11-20T18:00:00+00:00",
        complete=True,
        grid='corpus = "synthetic"\nfamilies = ["post_ln", "pre_ln", "admin", "realformer", "resi_dual"]\n',
        command="realformer-nmt compare recipes/quickstart/grid.toml --folder quickstart",
        commit=COMMIT,
        versions={"realformer-nmt": "0.1.0", "python": "3.11.9", "torch": "2.13.0", "fairseq": "0.12.3.1"},
        hardware=[Hardware(host="bench", processor="AMD EPYC 9554", cores=2, memory_gib=24, gpus=["NVIDIA H200"])],
        corpus="synthetic_en_de",
        languages=["en", "de"],
        metric="bleu",
        baseline="pre_ln",
        overrides=[],
        test=SignificanceTest(name="paired approximate randomisation", metric="bleu", samples=10000, correction="Holm"),
        published=list(PUBLISHED),
        cells=cells,
        subset="test",
        lines=1000,
        metrics=list(METRICS),
        rows=rows(cells),
        examples=[
            ExampleSentence(
                source=example["source"], reference=example["reference"], hypotheses=translated(example, cells)
            )
            for example in EXAMPLES
        ],
    )


def published(model: str, layers: int, bleu: float | None, comparable: str | None) -> PublishedFigure:
    return PublishedFigure(
        paper="He et al. 2021",
        model=model,
        encoder_layers=layers,
        decoder_layers=layers,
        bleu=bleu,
        metric="sacreBLEU" if comparable else "tokenised BLEU",
        note="",
        comparable_with=comparable,
    )


PUBLISHED = [
    published("Pre-LN", 6, 64.0, "bleu"),
    published("RealFormer", 18, 70.2, "bleu"),
    published("Post-LN", 18, None, "bleu"),  # failed in the paper
    published("RealFormer", 18, 72.4, None),  # another metric
    published("ADMIN", 100, 71.0, "bleu"),  # a depth that is not in the grid
]


def make_cell(family: str, depth: str, layers: list[int], seed: int, state: str) -> CellResult:
    done = state == "done"
    bleu = BLEU[family] + 0.15 * sum(layers) / 2 + 0.4 * math.sin(7 * seed + len(family))
    name = f"{family}-{depth}-s{seed}"
    return CellResult(
        name=name,
        family=family,
        layers=layers,
        depth=depth,
        seed=seed,
        state=state,
        evidence=None if done else "nll 5.97 bits after 300 updates; its data's unigram entropy is 5.90",
        scores={
            "bleu": CellScore(score=bleu if done else 0.4, interval=1.1),
            "chrf": CellScore(score=bleu + 11.3 if done else 9.8, interval=0.8),
            "valid_loss": CellScore(score=5.2 - bleu / 20 if done else 5.91),
        },
        parameters=40_000 * sum(layers) + 300_000,
        tokens_a_second=60_000 / sum(layers),
        hours=0.0012 * sum(layers) + 0.001 * seed,
        gpu_hours=0.0,
        started=f"2026-11-20T17:1{seed}:00+00:00",
        finished=f"2026-11-20T17:2{seed}:00+00:00",
        device="CPU",
        host="bench",
        commands=[f"realformer-nmt {step} --output {name}" for step in ("train", "average", "translate", "score")],
        settings=settings(family, layers, seed),
        versions={"realformer_nmt": "0.1.0", "torch": "2.13.0", "fairseq-fixed": "0.12.3.1", "commit": COMMIT},
        fairseq_train=f"fairseq-train data-bin --user-dir realformer_nmt --arch {family}_small --seed {seed}",
        unigram_entropy=5.9,
        curves=curves(bleu, done),
        shortcuts=shortcuts(layers) if family in ("admin", "realformer") else [],
    )


def settings(family: str, layers: list[int], seed: int) -> dict[str, Any]:
    sizes = {"encoder_layers": layers[0], "decoder_layers": layers[1], "seed": seed}
    return {"dropout": 0.1, "lr": [0.001], "model": family, **sizes, "decoding": {"beam": 4}}


def curves(bleu: float, learns: bool) -> CellCurves:
    def bits(update: int) -> float:
        return 5.2 - bleu / 20 + 6 * math.exp(-update / 90) if learns else 5.95 + 5 * math.exp(-update / 30)

    train = [
        CurvePoint(
            update=update,
            loss=bits(update) + 0.9,
            nll_loss=bits(update) + 0.15 * math.sin(update * 1.7),
            gnorm=1.2 + 3 * math.exp(-update / 40) + 0.4 * math.cos(update * 1.3),
            tokens_a_second=5000.0,
        )
        for update in range(10, UPDATES + 1, 10)
    ]
    valid = [
        CurvePoint(
            update=update,
            loss=bits(update) + 1,
            nll_loss=bits(update) + 0.1,
            bleu=bleu * (1 - math.exp(-update / 120)) if learns else 0.3,
        )
        for update in range(50, UPDATES + 1, 50)
    ]
    return CellCurves(train=train, valid=valid)


def shortcuts(layers: list[int]) -> list[ShortcutWeight]:
    kinds = {"encoder": ("self_attn", "ffn"), "decoder": ("self_attn", "encoder_attn", "ffn")}
    return [
        ShortcutWeight(
            sublayer=f"{side}.layers.{layer}.{kind}", mean=math.sqrt(1 + 0.6 * (layer * len(kinds[side]) + place))
        )
        for side, count in zip(kinds, layers, strict=True)
        for layer in range(count)
        for place, kind in enumerate(kinds[side])
    ]


def translated(example: dict[str, str], cells: Iterable[CellResult]) -> dict[str, str]:
    texts = {"post_ln": "wrong", "pre_ln": "wrong"}
    return {
        cell.name: "der der der ." if cell.state == "stuck" else example[texts.get(cell.family, "reference")]
        for cell in cells
    }


Groups = dict[tuple[Any, ...], list[CellResult]]


def rows(cells: Iterable[CellResult]) -> list[ResultRow]:
    groups: Groups = {}
    for cell in cells:
        groups.setdefault((cell.family, cell.depth, *cell.axes.values()), []).append(cell)
    return [row(group, groups) for group in groups.values()]


def row(group: list[CellResult], groups: Groups) -> ResultRow:
    first, scores = group[0], means(group)
    beside = means(groups[("pre_ln", first.depth, *first.axes.values())]) if first.family != "pre_ln" else {}
    delta = {name: scores[name].mean - beside[name].mean for name in scores if name in beside} or None
    return ResultRow(
        family=first.family,
        layers=first.layers,
        depth=first.depth,
        axes=first.axes,
        seeds=sum(cell.state == "done" for cell in group),
        failed=sum(cell.state in ("stuck", "diverged") for cell in group),
        states=[cell.state for cell in group],
        scores=scores,
        parameters=first.parameters,
        tokens_a_second=first.tokens_a_second,
        hours=first.hours,
        delta=delta,
        p=0.003 if delta else None,
        p_holm=0.012 if delta else None,
        p_best=0.004 if scores else None,
        best=bool(scores) and (first.family, first.depth) == ("realformer", "18"),
    )


def means(group: Sequence[CellResult]) -> dict[str, MeanScore]:
    done = [cell for cell in group if cell.state == "done"]
    scores = {}
    for name in [metric.name for metric in METRICS] if done else []:
        values = [cell.scores[name].score for cell in done]
        deviation = statistics.stdev(values) if len(values) > 1 else None
        scores[name] = MeanScore(mean=statistics.fmean(values), deviation=deviation)
    return scores


def unfinished() -> Results:
    """While cells run: one is done, one runs, one broke for the machine's sake, the others wait."""
    results = sample(seeds=1, fails=("", ""))
    for number, state in enumerate(["running", "error", *["waiting"] * 7], 1):
        evidence = "out of memory" if state == "error" else None
        results.cells[number] = replace(results.cells[number], state=state, scores={}, finished=None, evidence=evidence)
        if state == "waiting":
            results.cells[number] = waiting(results.cells[number])
    return replace(results, complete=False, rows=rows(results.cells), examples=[])


def waiting(cell: CellResult) -> CellResult:
    """The cell with nothing that a training leaves."""
    return CellResult(
        name=cell.name,
        family=cell.family,
        layers=cell.layers,
        depth=cell.depth,
        seed=cell.seed,
        state="waiting",
        unigram_entropy=cell.unigram_entropy,
    )


def changed(results: Results, change: Callable[[str], str]) -> Results:
    """The same, each text that came from outside (names, sentences, commands ...) put through `change`."""

    def deep(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: value[key] if key in KEPT else deep(value[key]) for key in value}
        if isinstance(value, list):
            return [deep(item) for item in value]
        return change(value) if isinstance(value, str) else value

    renamed = deep(to_builtins(results))
    for example in renamed["examples"]:
        example["hypotheses"] = {change(name): text for name, text in example["hypotheses"].items()}
    return convert(renamed, Results)


KEPT = {"state", "states", "created", "started", "finished", "metric", "metrics", "comparable_with"}


def empty() -> Results:
    """Return results before any cell is trained: the loss is the only known metric, and no lines are counted."""
    results = unfinished()
    blank = {"state": "waiting", "scores": {}, "curves": CellCurves(), "evidence": None, "hours": None}
    results.cells[:] = [replace(cell, **blank) for cell in results.cells]
    return replace(results, lines=None, metrics=METRICS[-1:], published=[], rows=rows(results.cells))


def without_curves(results: Results) -> Results:
    """Return the results without the curves of their cells, which take most of the time that a page is drawn."""
    return replace(results, cells=[replace(cell, curves=CellCurves(), shortcuts=[]) for cell in results.cells])


def change_cells(results: Results, is_meant: Callable[[CellResult], bool], **fields: Any) -> None:
    """Give fields other values, in the cells that are meant."""
    results.cells[:] = [replace(cell, **fields) if is_meant(cell) else cell for cell in results.cells]


def change_rows(results: Results, is_meant: Callable[[ResultRow], bool], **fields: Any) -> None:
    """Give fields other values, in the rows that are meant."""
    results.rows[:] = [replace(row, **fields) if is_meant(row) else row for row in results.rows]
