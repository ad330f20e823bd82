"""Scoring of models that translate: the stages after the average, and the test of a difference."""

from pathlib import Path

from realformer_nmt.comparison.grid.cell import CellStage
from realformer_nmt.comparison.grid.cell_requests import score_request, translate_request
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.evaluation import significance, tested_system
from realformer_nmt.evaluation.metric_table import METRICS, SUMMARY
from realformer_nmt.evaluation.p_values import SeedDifference
from realformer_nmt.protocols.protocol import Protocol

TEST = "ar"
RAW = "bleu"  # is tested where the metric drawn is one of tokenised text


def stages(grid: Grid, corpus: CorpusChoice, folder: Path, protocol: Protocol, subset: str) -> tuple[CellStage, ...]:
    """Return how a subset is translated and scored; the first one's translation measures the validation loss, too."""
    first = subset == grid.subsets[0]
    name = "" if first else f" {subset}"
    translate = translate_request(folder, subset, corpus.text, protocol, validate=first)
    summaries = METRICS[grid.drawn].text == SUMMARY
    score = score_request(folder, subset, corpus.references.get(subset), summaries, grid.comet_model)
    return (
        CellStage(f"translate{name}", translate, translate.output / "translation.json"),
        CellStage(f"score{name}", score, score.output),
    )


def tested(metric: str) -> str:
    return metric if METRICS[metric].tested else RAW


def compare(candidate: Path, baseline: Path, metric: str, samples: int, seed: int) -> SeedDifference | None:
    """Return the difference of two run.json with its p; None where they translated other test sets, or one has no
    scores of the metric yet, or those of another model."""
    systems = [tested_system.read(scores) for scores in (baseline, candidate)]
    if not tested_system.comparable(systems, tested(metric)):
        return None
    (comparison,) = significance.compare(systems, [tested(metric)], TEST, samples, seed, 1)
    return SeedDifference(comparison.difference, comparison.p)
