"""Verdict on a model that failed: `diverged` as in the papers' tables, or `stuck`.

A stuck model has learned how often each word is used, and nothing about the words before it.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from realformer_nmt.checkpoints.run_files import DIVERGENCE
from realformer_nmt.common.files import records
from realformer_nmt.comparison.grid.cell import Failure
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.data_bins import subsets

WINDOW = 5  # points of the curve
BLOCK = 1 << 22  # tokens counted at a time, which are copied as 8 bytes each


class Verdict(NamedTuple):
    state: str  # stuck, diverged or error
    evidence: str


class DivergenceRecord(Struct, frozen=True):
    """Record of a divergence, which the training writes, as far as it is read here."""

    error: str
    update: int


def unigram_entropy(data: Path, *pair: str) -> float:
    """Return H = -sum_w p(w) log2 p(w) over the training data's target tokens, each sentence's end included: the loss
    of a model that knows only frequencies."""
    tokens = subsets.tokens(data, "train", *pair)
    counts = np.zeros(int(tokens.max()) + 1)
    for at in range(0, len(tokens), BLOCK):
        counts += np.bincount(tokens[at : at + BLOCK], minlength=len(counts))
    share = counts / len(tokens)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def stuck(
    train: list[CurvePoint], valid: list[CurvePoint], ended: bool, entropy: float | None, failure: Failure
) -> Verdict | None:
    """Return the verdict by the mean loss of the last points; None without an entropy, or while a training that has
    not ended is too young.

    The last point and a validation at the same update must say so too: the mean of a short curve is of the models
    before, and a model that has overfitted has learned."""
    points = train or valid  # a training may be shorter than the interval of its log
    losses = [(point.update, point.nll_loss) for point in points if isinstance(point.nll_loss, float)]
    if entropy is None or not losses:
        return None
    update, last = losses[-1][0], [loss for _, loss in losses[-WINDOW:]]
    if not ended and update < failure.judged_after:
        return None
    mean = sum(last) / len(last)
    at_end = [point.nll_loss for point in valid[-1:] if point.update >= update and isinstance(point.nll_loss, float)]
    if min([mean, last[-1], *at_end]) <= entropy - failure.margin:
        return None
    text = f"{'training' if train else 'validation'} loss {mean:.2f} bits a token after {update} updates"
    return Verdict("stuck", f"{text}; the words' frequencies alone give {entropy:.2f}")


def diverged(checkpoints: Path, train: list[CurvePoint]) -> Verdict | None:
    """Return the verdict by the training's own note when it ended, or by a loss that is no number."""
    note = checkpoints / DIVERGENCE
    if note.is_file():
        record = records.read(note, DivergenceRecord, "remove it, and the same command resumes", sealed=False)
        return Verdict("diverged", f"{record.error} at update {record.update}")
    broken = [point for point in train if not math.isfinite(point.loss or 0.0)]
    if broken:
        return Verdict("diverged", f"loss {broken[0].loss} at update {broken[0].update}")
    return None
