"""Validation scores of a checkpoint.

fairseq stores the metric of --best-checkpoint-metric for each validation. Its other meters run on over the whole
training, so that the scores of one checkpoint are the difference to the checkpoint before. They are right only if there
was exactly one validation between the two, and are used only if they agree with the stored metric.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint

Meters = dict[str, np.ndarray]  # name -> [sum, weight], or the sums alone of BLEU's counts
LOSSES = ("loss", "nll_loss")
COUNTS = ("_bleu_counts", "_bleu_totals", "_bleu_sys_len", "_bleu_ref_len")


def stored(state: Checkpoint) -> dict[str, float]:
    """Return the one metric that fairseq stores with a checkpoint."""
    value = (state.get("extra_state") or {}).get("val_loss")
    metric = checkpoint_fields.setting(state, "checkpoint", "best_checkpoint_metric")
    return {metric: float(value)} if value is not None and isinstance(metric, str) else {}


def meters(state: Checkpoint) -> Meters:
    return sums(((state.get("extra_state") or {}).get("metrics") or {}).get("valid") or [])


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


def history(states: Sequence[tuple[dict[str, float], Meters]]) -> list[dict[str, float]]:
    """Return the scores of checkpoints in the order of their updates; each is given as (stored metric, meters)."""
    scores, earlier = [], Meters()
    for metric, now in states:
        derived = between(now, earlier)
        agree = all(abs(derived.get(name, np.inf) - value) < 0.01 for name, value in metric.items())
        scores.append({**derived, **metric} if metric and agree else metric)
        earlier = now
    return scores
