"""The tasks of fairseq that a protocol can have, each with the properties of its models and of its data-bin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.data_bins.languages import no_pair_in, pair_in, questions_in, sentences_in

SIDES = ("encoder", "decoder")
TEXT_KINDS = ("bert", "etc")


class Task(NamedTuple):
    """Properties of a task."""

    kinds: tuple[str, ...]  # what follows the family in --arch; the first is the default
    sides: tuple[str, ...]  # the models have
    languages: Callable[[Path], tuple[str, ...]]  # reads a data-bin's languages; a text alone has none
    translates: bool = False
    folders: tuple[str, ...] = ("",)  # within a data-bin
    always: tuple[str, ...] = ("dict*.txt",)  # files of every folder, whatever the subset
    endings: tuple[str, ...] = ("idx", "bin")  # of a subset's files
    loss: str = "nll_loss"  # name in a training's log of the loss per target


TRANSLATION = "translation"
TASKS = {
    TRANSLATION: Task(("",), SIDES, pair_in, translates=True),
    "language_modeling": Task(("lm",), ("decoder",), no_pair_in),
    "masked_lm": Task(TEXT_KINDS, ("encoder",), no_pair_in),
    "sentence_prediction": Task(
        TEXT_KINDS,
        ("encoder",),
        sentences_in,
        folders=("input0", "input1", "label"),
        endings=("idx", "bin", "label"),
        loss="loss",  # nll_loss is divided by the number of input tokens
    ),
    "question_answering": Task(
        TEXT_KINDS, ("encoder",), questions_in, always=("dict.txt", "sentencepiece.model"), endings=("json",)
    ),
    "span_masked_lm": Task(("",), SIDES, no_pair_in),
}


def task_of(cfg: Any) -> Task:
    """Return the task of a training; one that is not listed is another way to train on pairs."""
    return task_named(cfg.task._name)


def task_named(task: str) -> Task:
    return TASKS.get(task, TASKS[TRANSLATION])
