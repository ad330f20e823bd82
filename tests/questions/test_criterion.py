"""The loss of spans by hand."""

import math
from types import SimpleNamespace

import pytest
import torch
from fairseq.logging import metrics

from realformer_nmt.questions.criterion import SpanLoss


def test_it_is_the_mean_of_both_cross_entropies_and_accuracy_wants_both_right() -> None:
    logits = torch.tensor([[[2.0, 0.0], [1.0, 3.0], [-math.inf, -math.inf]], [[0.0, 1.0], [0.5, 0.0], [4.0, 2.0]]])
    target = torch.tensor([[0, 1], [2, 0]])  # the first is right, of the second the start alone
    sample = {"net_input": {}, "target": target, "ntokens": 6}
    loss, number, sums = SpanLoss(SimpleNamespace())(lambda: logits, sample)
    by_hand = [
        math.log(1 + math.exp(-1)),
        math.log(1 + math.exp(-3)),
        math.log(sum(math.exp(x - 4) for x in (0, 0.5, 4))),
        math.log(sum(math.exp(x - 1) for x in (1, 0, 2))),
    ]
    assert float(loss) == pytest.approx(sum(by_hand) / 2)
    assert number == 2
    with metrics.aggregate() as aggregator:
        SpanLoss.reduce_metrics([sums, sums])
    values = aggregator.get_smoothed_values()
    assert values["accuracy"] == 50
    assert values["loss"] == pytest.approx(sum(by_hand) / 4 / math.log(2), abs=1e-3)


def test_a_rank_without_a_batch_changes_no_figure() -> None:
    """fairseq-validate gives the empty table of a rank whose share is smaller."""
    sums = {"loss": torch.tensor(6.0), "ncorrect": torch.tensor(1), "nsentences": 4, "ntokens": 9, "sample_size": 4}
    with metrics.aggregate() as aggregator:
        SpanLoss.reduce_metrics([sums, {}])
    values = aggregator.get_smoothed_values()
    assert values["accuracy"] == 25
    assert values["loss"] == pytest.approx(1.5 / math.log(2), abs=1e-3)
