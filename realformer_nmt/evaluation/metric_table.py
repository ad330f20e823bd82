"""All metrics: what each is called, how it is computed and of which text, and which way is better.

A metric of sacreBLEU's is one row: it is then scored, may be chosen by a grid, is tested, ranked and reported. So is
one of the sums over the sequences of a text (sequences.py), for the tasks that it names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric as Scorer

from realformer_nmt.evaluation.rouge import Rouge, longest_shared, ngrams_shared

# Texts that `score` knows of
RAW, WORDS, SPLIT, RETOKENISED, SUMMARY = "raw", "words", "compounds split", "retokenised", "summary"
LOSS = "valid_loss"
Sums = Callable[[float, float, float], float]


@dataclass(frozen=True)
class Metric:
    label: str
    scorer: Callable[[], Scorer] | None  # None: it is not of texts alone
    text: str = RAW
    tested: bool = True  # sacreBLEU's test of significance can be made: of raw text
    higher_is_better: bool = True
    digits: int = 2
    sums: Sums | None = None  # of a text's bits, right targets, targets
    column: int = 0  # of these, the one whose difference is tested
    tasks: tuple[str, ...] = ("translation",)

    def is_better(self, difference: float) -> bool:
        """What has this difference to another."""
        return difference > 0 if self.higher_is_better else difference < 0


class ChrF(CHRF):
    """sacreBLEU's. Of samples without a match its score is Python's 0.0, of others numpy's float32, and no mean of the
    two can be taken."""

    def _compute_f_score(self, statistics: list[int]) -> float:
        return float(super()._compute_f_score(statistics))


def bleu() -> BLEU:
    """sacreBLEU as its command line computes it: mteval's tokeniser 13a on raw text."""
    return BLEU()


def tokenised_bleu() -> BLEU:
    """BLEU of the words as they stand, as fairseq-generate prints it: without smoothing."""
    return BLEU(tokenize="none", smooth_method="none", force=True)


METRICS: dict[str, Metric] = {
    "bleu": Metric("sacreBLEU", bleu),
    "chrf": Metric("chrF2", ChrF),
    "tokenised_bleu": Metric("tokenised BLEU", tokenised_bleu, WORDS, tested=False),
    "compound_split_bleu": Metric("compound-split BLEU", tokenised_bleu, SPLIT, tested=False),
    "retokenised_bleu": Metric("retokenised BLEU", tokenised_bleu, RETOKENISED, tested=False),
    "rouge_1": Metric("ROUGE-1", lambda: Rouge("ROUGE-1", ngrams_shared(1)), SUMMARY),
    "rouge_2": Metric("ROUGE-2", lambda: Rouge("ROUGE-2", ngrams_shared(2)), SUMMARY),
    "rouge_l": Metric("ROUGE-L", lambda: Rouge("ROUGE-L", longest_shared), SUMMARY),
    "comet": Metric("COMET", None, tested=False, digits=4),
    "masked_accuracy": Metric(
        "masked accuracy (%)",
        None,
        sums=lambda _bits, right, targets: 100 * right / targets,
        column=1,
        tasks=("masked_lm",),
    ),
    "perplexity": Metric(
        "perplexity",
        None,
        higher_is_better=False,
        sums=lambda bits, _right, targets: float(2 ** (bits / targets)),
        tasks=("language_modeling", "masked_lm"),
    ),
    LOSS: Metric("validation loss (bits)", None, tested=False, higher_is_better=False),
}


def scored() -> dict[str, Metric]:
    """Those of texts alone."""
    return {name: metric for name, metric in METRICS.items() if metric.scorer}


def tested() -> dict[str, Metric]:
    """Of texts, too."""
    return {name: metric for name, metric in scored().items() if metric.tested}


def summed(task: str | None) -> dict[str, Sums]:
    """Those of sums over a text's sequences."""
    return {name: metric.sums for name, metric in METRICS.items() if metric.sums and task in metric.tasks}


def drawn(task: str) -> list[str]:
    """What a grid may name; the first, if it names none."""
    return [name for name, metric in scored().items() if task in metric.tasks] + list(summed(task))


def described(name: str) -> dict[str, Any]:
    """For a record, before anything is scored."""
    metric = METRICS[name]
    direction = {"higher_is_better": metric.higher_is_better}
    return {"name": name, "label": metric.label, "signature": None, **direction}
