"""The tasks of fairseq that a protocol may be of: each a row, which says what its models and its data-bin are like."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.data_bins.languages import no_pair_in, pair_in, questions_in, sentences_in

SIDES = ("encoder", "decoder")


OF_TEXTS = ("bert", "etc")


class Task(NamedTuple):
    kinds: tuple[str, ...]  # of models, as an --arch has it after the family; the first is the usual one
    sides: tuple[str, ...]  # of a model
    languages: Callable[[Path], tuple[str, ...]]  # of a data-bin, which is looked at; a text alone has none
    translates: bool = False
    folders: tuple[str, ...] = ("",)  # of a data-bin, whose files are
    always: tuple[str, ...] = ("dict*.txt",)  # these, and those of each subset with one of
    endings: tuple[str, ...] = ("idx", "bin")
    loss: str = "nll_loss"  # as a training's log calls that of a target


TRANSLATION = "translation"
TASKS = {
    TRANSLATION: Task(("",), SIDES, pair_in, translates=True),
    "language_modeling": Task(("lm",), ("decoder",), no_pair_in),
    "masked_lm": Task(OF_TEXTS, ("encoder",), no_pair_in),
    "sentence_prediction": Task(
        *(OF_TEXTS, ("encoder",), sentences_in),
        folders=("input0", "input1", "label"),
        endings=("idx", "bin", "label"),
        loss="loss",  # the other is divided by the words that are read
    ),
    "question_answering": Task(
        *(OF_TEXTS, ("encoder",), questions_in), always=("dict.txt", "sentencepiece.model"), endings=("json",)
    ),
    "span_masked_lm": Task(("",), SIDES, no_pair_in),
}


def of(cfg: Any) -> Task:
    """Of a training; a task without a row is another way to train on pairs."""
    return named(cfg.task._name)


def named(task: str) -> Task:
    return TASKS.get(task, TASKS[TRANSLATION])
