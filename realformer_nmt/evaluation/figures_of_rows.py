"""Figures of rows, one a sequence, sentence or question (rows.py), of three numbers each: ... x n x 3, several samples
at once. They are in per cent, as fairseq prints those of GLUE.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Figure = Callable[[Numbers], Numbers]


def masked_accuracy(rows: Numbers) -> Numbers:
    """Of all targets together."""
    return 100 * rows[..., 1].sum(-1) / rows[..., 2].sum(-1)


def perplexity(rows: Numbers) -> Numbers:
    """2^(bits a target)."""
    found: Numbers = 2 ** (rows[..., 0].sum(-1) / rows[..., 2].sum(-1))
    return found


def is_right(rows: Numbers) -> Numbers:
    return (rows[..., 1] == rows[..., 2]).astype(float)


def accuracy(rows: Numbers) -> Numbers:
    return 100 * is_right(rows).mean(-1)


def matthews(rows: Numbers) -> Numbers:
    """Matthews' correlation, of any number of classes (Gorodkin 2004): 0 where one side is of one class alone."""
    number, classes = rows.shape[-2], range(int(rows[..., 1:].max()) + 1)
    counts = np.stack([(rows[..., 1:] == name).sum(-2) for name in classes], axis=-1)  # ... x 2 x C
    shared = number * is_right(rows).sum(-1) - counts.prod(-2).sum(-1)
    spread = np.sqrt((number**2 - (counts**2).sum(-1)).prod(-1).astype(float))
    return 100 * np.divide(shared, spread, out=np.zeros_like(spread), where=spread > 0)


def pearson(rows: Numbers) -> Numbers:
    """Of what is told and what is wanted; no number where one side is always the same."""
    return correlation(rows[..., 1:])


def correlation(pairs: Numbers) -> Numbers:
    told, wanted = np.moveaxis(pairs - pairs.mean(-2, keepdims=True), -1, 0)
    found: Numbers = 100 * (told * wanted).sum(-1) / np.sqrt((told**2).sum(-1) * (wanted**2).sum(-1))
    return found


def spearman(rows: Numbers) -> Numbers:
    """Pearson's of the ranks; equal ones share theirs."""
    from scipy.stats import rankdata  # here: who reads the table of metrics does not wait for it

    return correlation(rankdata(rows[..., 1:], axis=-2))


def column(number: int) -> Figure:
    return lambda rows: rows[..., number]


def mean(number: int) -> Figure:
    return lambda rows: 100 * rows[..., number].mean(-1)
