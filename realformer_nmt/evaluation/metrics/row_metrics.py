"""Metrics of rows (row_table.py): functions of ... x n x 3 numbers, n rows of three numbers in one or more samples.

They are in per cent, as fairseq prints those of GLUE.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Figure = Callable[[Numbers], Numbers]


def masked_accuracy(rows: Numbers) -> Numbers:
    """Return the accuracy over the targets of all rows together."""
    value: Numbers = 100 * rows[..., 1].sum(-1) / rows[..., 2].sum(-1)
    return value


def perplexity(rows: Numbers) -> Numbers:
    """Return 2^(bits per target)."""
    value: Numbers = 2 ** (rows[..., 0].sum(-1) / rows[..., 2].sum(-1))
    return value


def is_right(rows: Numbers) -> Numbers:
    return np.equal(rows[..., 1], rows[..., 2]).astype(float)


def accuracy(rows: Numbers) -> Numbers:
    value: Numbers = 100 * is_right(rows).mean(-1)
    return value


def matthews(rows: Numbers) -> Numbers:
    """Return Matthews' correlation of any number of classes (Gorodkin 2004); 0 where one side is of one class alone."""
    number, classes = rows.shape[-2], range(int(rows[..., 1:].max()) + 1)
    counts = np.stack([(rows[..., 1:] == label).sum(-2) for label in classes], axis=-1)  # ... x 2 x C
    shared = number * is_right(rows).sum(-1) - counts.prod(-2).sum(-1)
    spread = np.sqrt((number**2 - (counts**2).sum(-1)).astype(float).prod(-1))
    value: Numbers = 100 * np.divide(shared, spread, out=np.zeros_like(spread), where=spread > 0)
    return value


def pearson(rows: Numbers) -> Numbers:
    """Return Pearson's r of predictions and targets; NaN where one side is constant."""
    return correlation(rows[..., 1:])


def correlation(pairs: Numbers) -> Numbers:
    x, y = np.moveaxis(pairs - pairs.mean(-2, keepdims=True), -1, 0)
    value: Numbers = 100 * (x * y).sum(-1) / np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    return value


def spearman(rows: Numbers) -> Numbers:
    """Return Pearson's r of the ranks; ties share their mean rank."""
    from scipy.stats import rankdata  # here: the table of metrics is read without it

    return correlation(rankdata(rows[..., 1:], axis=-2))


def column(number: int) -> Figure:
    return lambda rows: rows[..., number]


def mean(number: int) -> Figure:
    return lambda rows: 100 * rows[..., number].mean(-1)
