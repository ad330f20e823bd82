"""Scoring of models that translate: the metrics that the text allows, the stages, and the test of a difference."""

from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import CellStage, Stages
from realformer_nmt.comparison.grid.cell_requests import score_request, translate_request
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.corpus import find as find_corpus
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.scoring import Scoring
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.preparing import prepare_job
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.evaluation import significance, tested_system
from realformer_nmt.evaluation.metrics import metric_table
from realformer_nmt.evaluation.metrics.metric_table import METRICS, SUMMARY
from realformer_nmt.evaluation.p_values import SeedDifference
from realformer_nmt.evaluation.translating import translation_record
from realformer_nmt.protocols.protocol import Protocol

TEST = "ar"
RAW = "bleu"  # is tested where the metric drawn is one of tokenised text


def find(grid: Grid, request: CompareRequest) -> CorpusChoice:
    """Return the corpus that --prepared or the grid names; refuse a metric that its text does not allow."""
    corpus = find_corpus(grid, request)
    check_metric(grid, corpus)
    return corpus


def check_metric(grid: Grid, corpus: CorpusChoice) -> None:
    """Refuse a metric of tokenised text if texts are not tokenised: nothing would be scored."""
    if METRICS[grid.drawn].text in (metric_table.RAW, SUMMARY):
        return
    subwords, hyphens = text_of(corpus)
    forms = metric_table.text_forms(METHODS[subwords], hyphens)
    if METRICS[grid.drawn].text not in forms:
        described = subwords + (f" and hyphens {hyphens}" if hyphens else "")
        allowed = [name for name in metric_table.drawn(grid.task) if METRICS[name].text in forms]
        raise UserError(
            f"{grid.name}.toml: metric {grid.drawn} is not defined for text with subwords {described}: allowed are "
            f"{', '.join(allowed)}; or name a corpus with other subwords"
        )


def text_of(corpus: CorpusChoice) -> tuple[str, str | None]:
    """Return the subwords and hyphens of a corpus, whether it is prepared yet or not."""
    if corpus.prepare:
        job = prepare_job.job(corpus.prepare)
        steps, _ = job.plan.steps("train", "text")
        return job.subwords, steps.tokenise
    text = text_pipeline.requested(corpus.text)
    return text.subwords, text.steps.tokenise


def stages(grid: Grid, corpus: CorpusChoice, folder: Path, protocol: Protocol, subset: str) -> Stages:
    """Return how a subset is translated and scored; the first one's translation measures the validation loss, too."""
    first = subset == grid.subsets[0]
    name = "" if first else f" {subset}"
    translate = translate_request(folder, subset, corpus.text, protocol, validate=first)
    summaries = METRICS[grid.drawn].text == SUMMARY
    score = score_request(folder, subset, corpus.references.get(subset), summaries, grid.comet_model)
    return (
        CellStage(f"translate{name}", translate, translate.output / translation_record.RECORD),
        CellStage(f"score{name}", score, score.output),
    )


def tested(metric: str) -> str:
    """Return the metric whose difference is tested where this one is drawn, of any task."""
    row = METRICS[metric]
    return metric if row.tested or row.figure else RAW


def compare(candidate: Path, baseline: Path, metric: str, samples: int, seed: int) -> SeedDifference | None:
    """Return the difference of two run.json with its p; None if they translated other test sets, or one has no
    scores of the metric yet, or those of another model."""
    systems = [tested_system.read(scores) for scores in (baseline, candidate)]
    if not tested_system.comparable(systems, tested(metric)):
        return None
    (comparison,) = significance.compare(systems, [tested(metric)], TEST, samples, seed)
    return SeedDifference(comparison.difference, comparison.p)


TRANSLATED = Scoring(find, stages, compare)
