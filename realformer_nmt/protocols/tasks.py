"""The tasks of fairseq that a protocol may be of: each a row, which says what its models and its data-bin are like."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.data_bins.languages import no_pair_in, pair_in

SIDES = ("encoder", "decoder")


class Task(NamedTuple):
    ending: str  # of an --arch, after the family
    sides: tuple[str, ...]  # of a model
    languages: Callable[[Path], tuple[str, ...]]  # of a data-bin; a text alone has none
    translates: bool = False


TRANSLATION = "translation"
TASKS = {
    TRANSLATION: Task("", SIDES, pair_in, translates=True),
    "language_modeling": Task("_lm", ("decoder",), no_pair_in),
    "masked_lm": Task("_bert", ("encoder",), no_pair_in),
}


def of(cfg: Any) -> Task:
    """Of a training; a task without a row is another way to train on pairs."""
    return TASKS.get(cfg.task._name, TASKS[TRANSLATION])
