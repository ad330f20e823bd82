"""Table of fairseq's tasks: all that protocols, comparisons, evaluation, checkpoints and analyses know of one is a row.

What is slow to import, or belongs to a package that imports this module, is named as "module:attribute".
"""

from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

SIDES = ("encoder", "decoder")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A row of the table; its tuple is empty, or its name None, if it has nothing of the kind."""

    name: str
    implementation: str  # the class in fairseq

    # Models
    sides: tuple[str, ...]
    kinds: tuple[str, ...] = ("",)  # what follows the family in --arch; the first is the default
    models: tuple[str, ...]  # names in fairseq that its checkpoints may have

    # Training
    criterion: str | None = None  # the only one of fairseq and of this package that fits
    flags: tuple[str, ...] = ()  # that a file may set, beside those of every task
    loss: str = "nll_loss"  # name in a training's log of the loss per target
    targets_are_words: bool = True  # their entropy tells whether a model is stuck
    translates: bool = False

    # Data-bin
    language_reader: str = "realformer_nmt.data_bins.languages:no_pair_in"
    subset_check: str = "realformer_nmt.comparison.grid.row_scoring:check"
    folders: tuple[str, ...] = ("",)  # within it
    always: tuple[str, ...] = ("dict*.txt",)  # files of every folder, whatever the subset
    endings: tuple[str, ...] = ("idx", "bin")  # of a subset's files

    # Results
    scoring: str = "realformer_nmt.comparison.grid.row_scoring:MEASURED"
    mask_seed: int | None = None  # every cell of a comparison has the same words masked, whatever its seed
    rows: str | None = None  # the class of what `evaluate` measures of each sequence, sentence or question
    metrics: tuple[str, ...] = ()  # of these rows; those of texts are for each task that translates
    analysed_text: str | None = None  # the class of what `analyse` reads for a model of one side

    def languages(self, folder: Path) -> tuple[str, ...]:
        """Check a data-bin, and return its languages; a text alone has none."""
        languages: tuple[str, ...] = resolve_name(self.language_reader)(folder)
        return languages


TRANSLATION, QUESTION_ANSWERING = "translation", "question_answering"
TEXT_KINDS = ("bert", "etc")
MASKED_MODELS = ("roberta", "realformer_nmt_bert")
SAMPLES = ("tokens-per-sample", "sample-break-mode", "max-positions")  # flags
SEQUENCES = "realformer_nmt.evaluation.rows.text_rows:Sequences"
ONE_TEXT = "realformer_nmt.analysis.single_stack.one_text:OneText"

_ROWS = (
    Task(
        name=TRANSLATION,
        implementation="fairseq.tasks.translation:TranslationTask",
        sides=SIDES,
        models=("transformer", "transformer_align", "realformer_nmt", "lightconv", "lstm"),
        flags=(
            "left-pad-source",
            "left-pad-target",
            "upsample-primary",
            "truncate-source",
            "num-batch-buckets",
            "eval-bleu",
            "eval-tokenized-bleu",
            "eval-bleu-print-samples",
        ),
        translates=True,
        language_reader="realformer_nmt.data_bins.languages:pair_in",
        scoring="realformer_nmt.comparison.grid.translation_scoring:TRANSLATED",
    ),
    Task(
        name="language_modeling",
        implementation="fairseq.tasks.language_modeling:LanguageModelingTask",
        sides=("decoder",),
        kinds=("lm",),
        models=("transformer_lm", "realformer_nmt_lm"),
        flags=SAMPLES,
        mask_seed=1,  # nothing is masked, but records have it
        rows=SEQUENCES,
        metrics=("perplexity",),
        analysed_text=ONE_TEXT,
    ),
    Task(
        name="masked_lm",
        implementation="fairseq.tasks.masked_lm:MaskedLMTask",
        sides=("encoder",),
        kinds=TEXT_KINDS,
        models=MASKED_MODELS,
        criterion="masked_lm",
        flags=(*SAMPLES, "mask-prob", "leave-unmasked-prob", "random-token-prob", "freq-weighted-replacement"),
        mask_seed=1,
        rows=SEQUENCES,
        metrics=("masked_accuracy", "perplexity"),
        analysed_text=ONE_TEXT,
    ),
    Task(
        name="sentence_prediction",
        implementation="fairseq.tasks.sentence_prediction:SentencePredictionTask",
        sides=("encoder",),
        kinds=TEXT_KINDS,
        models=MASKED_MODELS,
        criterion="sentence_prediction",
        flags=("num-classes", "regression-target", "init-token", "separator-token", "shorten-method"),
        loss="loss",  # nll_loss is divided by the number of input tokens
        targets_are_words=False,
        language_reader="realformer_nmt.data_bins.languages:sentences_in",
        subset_check="realformer_nmt.comparison.grid.row_scoring:check_labelled",
        folders=("input0", "input1", "label"),
        endings=("idx", "bin", "label"),
        rows="realformer_nmt.evaluation.rows.text_rows:Sentences",
        metrics=("accuracy", "matthews", "pearson", "spearman"),
        analysed_text="realformer_nmt.analysis.single_stack.finetuned_heads:ClassifiedText",
    ),
    Task(
        name=QUESTION_ANSWERING,
        implementation="realformer_nmt.questions.task:QuestionAnsweringTask",
        sides=("encoder",),
        kinds=TEXT_KINDS,
        models=MASKED_MODELS,
        criterion=QUESTION_ANSWERING,
        flags=("stride",),
        targets_are_words=False,
        language_reader="realformer_nmt.data_bins.languages:questions_in",
        subset_check="realformer_nmt.comparison.grid.row_scoring:check_questions",
        always=("dict.txt", "sentencepiece.model"),
        endings=("json",),
        rows="realformer_nmt.evaluation.rows.answer_rows:QuestionRows",
        metrics=("f1", "exact_match"),
        analysed_text="realformer_nmt.analysis.single_stack.finetuned_heads:QuestionText",
    ),
    Task(
        name="span_masked_lm",
        implementation="fairseq.tasks.span_masked_lm:SpanMaskedLMTask",
        sides=SIDES,
        models=("transformer", "realformer_nmt"),
        flags=("noise-density", "mean-noise-span-length"),
        targets_are_words=False,  # names of spans are among them
        mask_seed=1,
        rows=SEQUENCES,
        metrics=("perplexity",),
    ),
)
TASKS = {task.name: task for task in _ROWS}
SHIPPED = frozenset(TASKS)  # a --user-dir may add others


def task_of(cfg: Any) -> Task:
    """Return the row of a training's task; a task that is not listed counts as translation."""
    return task_named(cfg.task._name)


def task_named(name: object) -> Task:
    """Return the row of a task's name; a name from a checkpoint may be of any type, and then counts as translation."""
    return TASKS.get(name, TASKS[TRANSLATION]) if isinstance(name, str) else TASKS[TRANSLATION]
