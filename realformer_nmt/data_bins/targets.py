"""Checks of the targets of `--task sentence_prediction`: as many as sentences, and each a class that there is."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.index import AGAIN, HEADER, header


def parts(prefix: Path) -> Iterator[Path]:
    """Yield the indexes of train, train1, train2 ..., which fairseq joins."""
    for number in itertools.count():
        index = prefix.with_name(f"{prefix.name}{number or ''}.idx")
        if not index.exists():
            return
        yield index


def sentences(prefix: Path) -> int:
    return sum(header(index)[1] for index in parts(prefix))


def check_labels(data: Path, split: str) -> None:
    """Raise if a split has neither classes nor numbers; test sets often have none."""
    if not any((data / "label" / f"{split}.{ending}").is_file() for ending in ("idx", "label")):
        raise UserError(f"{data / 'label'} holds neither {split}.idx nor {split}.label: give a subset that has labels")


def check_as_many(data: Path, split: str, inner: str) -> None:
    """Raise if the second sentences or labels, if there are any, are not as many as the first sentences."""
    expected, count = sentences(data / "input0" / split), sentences(data / inner / split)
    if count and count != expected:
        raise UserError(f"{data / inner / split}.idx has {count:,} lines for {expected:,} sentences; {AGAIN}")


def check_classes(data: Path, split: str, first: int, classes: int) -> None:
    """Raise unless each sentence has one label, of a class; the first class has index `first` in the dictionary."""
    for index in parts(data / "label" / split):
        kind, number = header(index)
        lengths = np.fromfile(index, "<i4", number, offset=HEADER.size)
        if (lengths != 2).any():  # the label, and the end of the line
            line = int((lengths != 2).argmax())
            raise UserError(f"{index}: line {line + 1:,} has {lengths[line] - 1:,} labels: allowed is one; {AGAIN}")
        labels = np.memmap(index.with_suffix(".bin"), kind, "r")[::2].astype(np.int64) - first
        if (labels < 0).any():
            line = int((labels < 0).argmax())
            raise UserError(f"{index}: line {line + 1:,} has a label that its dictionary has not; {AGAIN}")
        if labels.max() >= classes:
            number = labels.max() + 1
            raise UserError(f"{index} holds {number:,} labels or more: pass --num-classes {number}")
