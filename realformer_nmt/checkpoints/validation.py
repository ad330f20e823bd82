"""Validation scores from fairseq's meters, which run on over the whole training: a validation is a difference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU

Meters = dict[str, np.ndarray]  # name -> [sum, weight], or the sums alone of BLEU's counts
LOSSES = ("loss", "nll_loss")
COUNTS = ("_bleu_counts", "_bleu_totals", "_bleu_sys_len", "_bleu_ref_len")


def sums(rows: Sequence[Any]) -> Meters:
    """Return the sums of losses and of BLEU's counts from fairseq's stored meters."""
    totals: Meters = {}
    for _, name, _, meter in rows:
        if name in LOSSES:
            totals[name] = np.array([float(meter["sum"]), float(meter["count"])])
        elif name in COUNTS:
            totals[name] = np.array(meter["sum"], dtype=np.int64)
    return totals


def between(later: Meters, earlier: Meters) -> dict[str, float]:
    """Return the losses (base 2, as fairseq logs them) and BLEU of all validations after the earlier meters."""
    new = {name: value - earlier.get(name, np.zeros_like(value)) for name, value in later.items()}
    scores = {name: float(new[name][0] / new[name][1]) for name in LOSSES if name in new and new[name][1] > 0}
    if all(name in new for name in COUNTS) and new["_bleu_ref_len"] > 0 and new["_bleu_sys_len"] > 0:
        counts, totals, sys_len, ref_len = (new[name].tolist() for name in COUNTS)
        scores["bleu"] = BLEU.compute_bleu(counts, totals, sys_len, ref_len, smooth_method="exp").score
    return scores
