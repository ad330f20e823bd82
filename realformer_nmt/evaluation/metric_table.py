"""All metrics: what each is called, how it is computed and of which text, and which way is better.

A metric of sacreBLEU's is one row: it is then scored, may be chosen by a grid, is tested, ranked and reported. So is
one of the rows of a text's sequences, sentences or questions (rows.py), for the tasks that it names.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric as Scorer

from realformer_nmt.evaluation import figures_of_rows as of_rows
from realformer_nmt.evaluation.figures_of_rows import Figure
from realformer_nmt.evaluation.rouge import Rouge, longest_shared, ngrams_shared

# Texts that `score` knows of
RAW, WORDS, SPLIT, RETOKENISED, SUMMARY = "raw", "words", "compounds split", "retokenised", "summary"
LOSS = "valid_loss"
SENTENCES, QUESTIONS = "sentence_prediction", "question_answering"


@dataclass(frozen=True)
class Metric:
    label: str
    scorer: Callable[[], Scorer] | None  # None: it is not of texts alone
    text: str = RAW
    tested: bool = True  # sacreBLEU's test of significance can be made: of raw text
    higher_is_better: bool = True
    digits: int = 2
    figure: Figure | None = None  # of rows
    part: Figure | None = None  # what a row adds to it, whose difference is tested; else rows are exchanged whole
    tasks: tuple[str, ...] = ("translation",)
    of_numbers: bool = False  # of sentences whose targets are numbers and no classes

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
        "masked accuracy (%)", None, figure=of_rows.masked_accuracy, part=of_rows.column(1), tasks=("masked_lm",)
    ),
    "perplexity": Metric(
        "perplexity",
        None,
        higher_is_better=False,
        figure=of_rows.perplexity,
        part=of_rows.column(0),
        tasks=("language_modeling", "masked_lm", "span_masked_lm"),
    ),
    "accuracy": Metric("accuracy (%)", None, figure=of_rows.accuracy, part=of_rows.is_right, tasks=(SENTENCES,)),
    "matthews": Metric("Matthews' correlation x 100", None, figure=of_rows.matthews, tasks=(SENTENCES,)),
    "pearson": Metric("Pearson's r x 100", None, figure=of_rows.pearson, tasks=(SENTENCES,), of_numbers=True),
    "spearman": Metric("Spearman's rho x 100", None, figure=of_rows.spearman, tasks=(SENTENCES,), of_numbers=True),
    "f1": Metric("F1 (%)", None, figure=of_rows.mean(1), part=of_rows.column(1), tasks=(QUESTIONS,)),
    "exact_match": Metric("exact match (%)", None, figure=of_rows.mean(0), part=of_rows.column(0), tasks=(QUESTIONS,)),
    LOSS: Metric("validation loss (bits)", None, tested=False, higher_is_better=False),
}


def scored() -> dict[str, Metric]:
    """Those of texts alone."""
    return {name: metric for name, metric in METRICS.items() if metric.scorer}


def tested() -> dict[str, Metric]:
    """Of texts, too."""
    return {name: metric for name, metric in scored().items() if metric.tested}


def figured(task: str | None, numbers: bool = False) -> dict[str, Figure]:
    """Those of rows."""
    kept = {name: metric for name, metric in METRICS.items() if task in metric.tasks and metric.of_numbers == numbers}
    return {name: metric.figure for name, metric in kept.items() if metric.figure}


def drawn(task: str, numbers: bool = False) -> list[str]:
    """What a grid may name; the first, if it names none."""
    return [name for name, metric in scored().items() if task in metric.tasks] + list(figured(task, numbers))
