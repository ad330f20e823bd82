"""TER, of which less is better, as someone would add it: one row of the table of metrics."""

import pytest
from sacrebleu.metrics import TER

from realformer_nmt.evaluation.metrics.metric_table import METRICS, Metric


def add_ter(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(METRICS, "ter", Metric("TER", TER, higher_is_better=False))
