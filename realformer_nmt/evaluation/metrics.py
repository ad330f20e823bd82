"""Scores of texts, each with its metric's name, its text and its signature."""

import importlib
import importlib.metadata
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.metric_table import METRICS, Scorer, scored

HYPHEN = re.compile(r"(\S)-(\S)")
Lines = Sequence[str]


@dataclass(frozen=True)
class Score:
    metric: str
    score: float
    signature: str
    text: str  # what was compared
    mean: float | None = None  # of the bootstrap's samples
    interval: float | None = None  # 95 % of them lie within mean +- interval

    def record(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class Texts(NamedTuple):
    """What is compared."""

    name: str
    hypotheses: Lines
    reference: Lines


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """sacreBLEU takes its seed from the environment, and takes 0 for none."""
    if seed < 1:
        raise UserError(f"--seed {seed}: sacreBLEU needs 1 or more to repeat the same samples")
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before


def scores(texts: Mapping[str, Texts], samples: int) -> dict[str, Score]:
    """In every metric that these texts allow."""
    return {
        name: measure(metric.scorer(), metric.label, texts[metric.text], samples)
        for name, metric in scored().items()
        if metric.scorer and metric.text in texts
    }


def measure(scorer: Scorer, label: str, texts: Texts, samples: int = 0) -> Score:
    demand_same_length(texts.hypotheses, texts.reference)
    found = scorer.corpus_score(texts.hypotheses, [texts.reference], n_bootstrap=samples)
    sampled = (float(found._mean), float(found._ci)) if samples > 1 else (None, None)
    return Score(label, float(found.score), str(scorer.get_signature()), texts.name, *sampled)


def demand_same_length(hypotheses: Lines, reference: Lines) -> None:
    if len(hypotheses) != len(reference):
        raise UserError(
            f"{len(hypotheses)} hypotheses and {len(reference)} references: they must be those of the same test set "
            "(newstest2014 has 3,003 lines, its filtered En-De version 2,737)"
        )
    if not reference:
        raise UserError("there is no line to score")


def split_compounds(lines: Lines) -> list[str]:
    """`a-b` becomes `a ##AT##-##AT## b`, as in Vaswani et al.'s and Ott et al.'s evaluation."""
    return [HYPHEN.sub(r"\1 ##AT##-##AT## \2", line) for line in lines]


def demand_whole_compounds(hyphens: str | None, hypotheses: Lines, reference: Lines) -> None:
    apart = any("@-@" in line for line in (*hypotheses, *reference))
    if hyphens != "plain" or apart:
        told = (
            "already splits compounds (A @-@ B)" if hyphens == "aggressive" or apart else "is not Moses' tokenisation"
        )
        raise UserError(
            f"compound-split BLEU is refused: this text {told}, so splitting would inflate the score; "
            "it is defined for text tokenised with --hyphens plain"
        )


def comet(model: str, source: Lines, hypotheses: Lines, reference: Lines) -> Score:
    """Rei et al. 2022; needs the package unbabel-comet, which downloads the model."""
    import torch  # here: no other metric waits for it

    package = comet_package()
    demand_same_length(source, reference)
    triples = [
        {"src": ours, "mt": hypothesis, "ref": theirs}
        for ours, hypothesis, theirs in zip(source, hypotheses, reference, strict=True)
    ]
    scorer = package.load_from_checkpoint(package.download_model(model))
    gpus = min(1, torch.cuda.device_count())
    score = float(scorer.predict(triples, batch_size=32, gpus=gpus).system_score)
    signature = f"{model}|unbabel-comet:{importlib.metadata.version('unbabel-comet')}"
    return Score(METRICS["comet"].label, score, signature, "raw text")


def comet_package() -> Any:
    try:
        return importlib.import_module("comet")
    except ImportError as error:
        raise UserError(f"--comet: {error}; pip install unbabel-comet, or leave --comet out") from error
