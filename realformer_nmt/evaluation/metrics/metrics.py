"""Scores of texts, each with the metric's name, the text and the signature."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from msgspec.structs import replace
from sacrebleu.metrics.base import Metric as Scorer

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.metrics.metric_table import text_metrics
from realformer_nmt.evaluation.run_record import Score

HYPHEN = re.compile(r"(\S)-(\S)")
Lines = Sequence[str]


class ScoredTexts(NamedTuple):
    """Hypotheses and references in one form, with its name."""

    name: str
    hypotheses: Lines
    reference: Lines


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Set sacreBLEU's seed, which it reads from the environment, where 0 means none."""
    previous = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if previous is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = previous


def scores(texts: Mapping[str, ScoredTexts], samples: int) -> dict[str, Score]:
    """Return the score of every metric whose text is there."""
    return {
        name: measure(metric.scorer(), metric.label, texts[metric.text], samples)
        for name, metric in text_metrics().items()
        if metric.scorer and metric.text in texts
    }


def measure(scorer: Scorer, label: str, texts: ScoredTexts, samples: int = 0) -> Score:
    check_same_length(texts.hypotheses, texts.reference)
    result = scorer.corpus_score(texts.hypotheses, [texts.reference], n_bootstrap=samples)
    score = Score(metric=label, score=float(result.score), signature=str(scorer.get_signature()), text=texts.name)
    return replace(score, mean=float(result._mean), interval=float(result._ci)) if samples > 1 else score


def signed_with(signature: str) -> dict[str, str]:
    """Return the parts of a signature by their names."""
    return {name: value for name, _, value in (part.partition(":") for part in signature.split("|"))}


def check_same_length(hypotheses: Lines, reference: Lines) -> None:
    if len(hypotheses) != len(reference):
        raise UserError(
            f"{len(hypotheses)} hypotheses and {len(reference)} references: they must be those of the same test set "
            "(newstest2014 has 3,003 lines, its filtered En-De version 2,737)"
        )
    if not reference:
        raise UserError("there is no line to score")


def check_source(source: Lines, hypotheses: Lines) -> None:
    """Raise an error unless the source, which COMET reads, has a line for each hypothesis."""
    if len(source) != len(hypotheses):
        raise UserError(
            f"the source has {len(source)} lines, and there are {len(hypotheses)} hypotheses: give the text that was "
            "translated (`score --source FILE`)"
        )


def split_compounds(lines: Lines) -> list[str]:
    """Turn `a-b` into `a ##AT##-##AT## b`, as in Vaswani et al.'s and Ott et al.'s evaluation."""
    return [HYPHEN.sub(r"\1 ##AT##-##AT## \2", line) for line in lines]
