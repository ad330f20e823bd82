"""Table of all metrics: name, computation, the text that is scored, and whether higher is better.

A metric of sacreBLEU's is one row: it is then scored, may be chosen by a grid, is tested, ranked and reported. So is
a metric of the rows of a text's sequences, sentences or questions (row_table.py), for the tasks whose rows name it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sacrebleu.metrics.base import Metric as Scorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from realformer_nmt import tasks
from realformer_nmt.corpora.subwords.subword_methods import SubwordMethod
from realformer_nmt.evaluation.metrics import row_metrics as of_rows
from realformer_nmt.evaluation.metrics.rouge import Rouge1, Rouge2, RougeL
from realformer_nmt.evaluation.metrics.row_metrics import Figure

# Forms of the text that `score` scores
RAW, WORDS, SPLIT, RETOKENISED, SUMMARY = "raw", "words", "compounds split", "retokenised", "summary"
LOSS = "valid_loss"


@dataclass(frozen=True)
class Metric:
    label: str
    scorer: Callable[[], Scorer] | None  # None: it needs more than the texts
    text: str = RAW
    neural: bool = False  # the mean of segments' scores, by a model that the grid's setting of this metric's name names
    tested: bool = True  # by sacreBLEU's test of significance, of raw text
    higher_is_better: bool = True
    figure: Figure | None = None  # of rows
    part: Figure | None = None  # a row's term of the sum, whose difference is tested; else whole rows are exchanged
    of_numbers: bool = False  # its targets are numbers, not classes

    def is_better(self, difference: float) -> bool:
        """Return whether a score with this difference to another is better."""
        return difference > 0 if self.higher_is_better else difference < 0


class ChrF(CHRF):
    """sacreBLEU's chrF with scores of one type.

    sacreBLEU's score of a sample without a match is Python's 0.0, of others numpy's float32; it cannot take the mean of
    both.
    """

    def _compute_f_score(self, statistics: list[int]) -> float:
        return float(super()._compute_f_score(statistics))


def tokenised_bleu() -> BLEU:
    """Return BLEU of the tokens as given, as fairseq-generate prints it: without smoothing."""
    return BLEU(tokenize="none", smooth_method="none", force=True)


METRICS: dict[str, Metric] = {
    "bleu": Metric("sacreBLEU", BLEU),  # as sacreBLEU's command line computes it: mteval's tokeniser 13a on raw text
    "chrf": Metric("chrF2", ChrF),
    "tokenised_bleu": Metric("tokenised BLEU", tokenised_bleu, WORDS, tested=False),
    "compound_split_bleu": Metric("compound-split BLEU", tokenised_bleu, SPLIT, tested=False),
    "retokenised_bleu": Metric("retokenised BLEU", tokenised_bleu, RETOKENISED, tested=False),
    "rouge_1": Metric("ROUGE-1", Rouge1, SUMMARY),
    "rouge_2": Metric("ROUGE-2", Rouge2, SUMMARY),
    "rouge_l": Metric("ROUGE-L", RougeL, SUMMARY),
    "comet": Metric("COMET x 100", None, neural=True),
    "masked_accuracy": Metric("masked accuracy (%)", None, figure=of_rows.masked_accuracy, part=of_rows.column(1)),
    "perplexity": Metric("perplexity", None, higher_is_better=False, figure=of_rows.perplexity, part=of_rows.column(0)),
    "accuracy": Metric("accuracy (%)", None, figure=of_rows.accuracy, part=of_rows.is_right),
    "matthews": Metric("Matthews' correlation x 100", None, figure=of_rows.matthews),
    "pearson": Metric("Pearson's r x 100", None, figure=of_rows.pearson, of_numbers=True),
    "spearman": Metric("Spearman's rho x 100", None, figure=of_rows.spearman, of_numbers=True),
    "f1": Metric("F1 (%)", None, figure=of_rows.mean(1), part=of_rows.column(1)),
    "exact_match": Metric("exact match (%)", None, figure=of_rows.mean(0), part=of_rows.column(0)),
    LOSS: Metric("validation loss (bits)", None, tested=False, higher_is_better=False),
}


def text_metrics() -> dict[str, Metric]:
    """Return the metrics that need only texts."""
    return {name: metric for name, metric in METRICS.items() if metric.scorer}


def neural_metrics() -> dict[str, Metric]:
    """Return the metrics that are the mean of segments' scores, which a record keeps."""
    return {name: metric for name, metric in METRICS.items() if metric.neural}


def tested_metrics() -> dict[str, Metric]:
    """Return the metrics of translations that sacreBLEU can test."""
    return {name: metric for name, metric in (text_metrics() | neural_metrics()).items() if metric.tested}


def row_figures(task: str | None, numbers: bool = False) -> dict[str, Figure]:
    """Return the functions of a task's metrics of rows."""
    metrics = {name: METRICS[name] for name in tasks.task_named(task).metrics}
    return {name: metric.figure for name, metric in metrics.items() if metric.figure and metric.of_numbers == numbers}


def text_forms(method: SubwordMethod, hyphens: str | None) -> set[str]:
    """Return the forms in which `score` has translations of a data-bin with these subwords and hyphens."""
    forms = {RAW, SUMMARY} | ({RETOKENISED} if method.retokenised else set())
    if method.retokenised and not method.tokenised:  # such translations are raw text
        return forms
    return forms | ({WORDS, SPLIT} if hyphens == "plain" else {WORDS})


def drawn(task: str, numbers: bool = False) -> list[str]:
    """Return the metrics that a grid may name; the first is the default."""
    of_texts = text_metrics() | neural_metrics() if tasks.TASKS[task].translates else {}
    return [*of_texts, *row_figures(task, numbers)]
