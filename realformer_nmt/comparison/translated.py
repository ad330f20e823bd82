"""Cells that translate: from an averaged model to its scores, and whether a difference between two is real."""

from pathlib import Path

from realformer_nmt.comparison.cell import Stage, of_subset
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.evaluation import significance
from realformer_nmt.evaluation.metric_table import METRICS, SUMMARY
from realformer_nmt.protocols.run_files import RECORD

TEST = "ar"
RAW = "bleu"  # is tested where the metric drawn is one of tokenised text


def stages(grid: Grid, corpus: Corpus, folder: Path, decoding: list[str], subset: str) -> tuple[Stage, ...]:
    """The first subset's translation measures the validation loss, too."""
    first = subset == grid.subsets[0]
    name = "" if first else f" {subset}"
    translation, record = of_subset(folder, "translation", subset), of_subset(folder, "run", subset, ".json")
    asked = ("--validate",) if first else ()
    of = () if subset == "test" else ("--subset", subset)
    translate = ("translate", str(folder / "average.pt"), *corpus.translate, *of, *decoding, *asked)
    summary = ("--rouge",) if METRICS[grid.drawn].text == SUMMARY else ()
    score = ("score", str(translation), "--training", str(folder / RECORD), *corpus.score(subset), *summary)
    return (
        Stage(f"translate{name}", (*translate, "--output", str(translation)), translation / "translation.json"),
        Stage(f"score{name}", (*score, "--output", str(record)), record),
    )


def tested(metric: str) -> str:
    return metric if METRICS[metric].tested else RAW


def p_value(ours: Path, theirs: Path, metric: str, samples: int, seed: int) -> float | None:
    """Of two run.json; None where they translated other test sets."""
    systems = [significance.read(scores) for scores in (theirs, ours)]
    if len({system.reference_sha256 for system in systems}) > 1:
        return None
    return significance.compare(systems, [tested(metric)], TEST, samples, seed, 1)[0].p
