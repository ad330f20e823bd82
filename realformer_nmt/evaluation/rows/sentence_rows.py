"""Rows of a model of --task sentence_prediction: its class or number for each sentence, or pair of sentences."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.evaluation.rows.row_table import MeasuredRows


class SentenceRow(NamedTuple):
    """Loss, prediction and target of one sentence."""

    loss: float  # bits for a class, squared error for a number
    prediction: float
    target: float


class Sentences(MeasuredRows):
    """Rows of sentences; there are none where a sentence has several numbers."""

    unit = "sentences"
    _of_numbers = False

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Add the rows of a batch; logits are B x classes, or B x 1 for numbers."""
        self._of_numbers = sample["target"].is_floating_point()
        if sample["target"].numel() != len(logits):
            return
        logits, target = logits.float(), sample["target"].view(-1)
        if self._of_numbers:
            prediction = logits.view(-1)
            loss = (prediction - target) ** 2
        else:
            prediction = logits.argmax(-1)
            loss = cross_entropy(logits, target, reduction="none") / math.log(2)
        columns = torch.stack([loss.double(), prediction.double(), target.double()], dim=1)
        for index, row in zip(sample["id"].tolist(), columns.tolist(), strict=True):
            self.rows[index] = SentenceRow._make(row)
            self._targets[index] = repr(row[-1]).encode()

    @property
    def of_numbers(self) -> bool:
        return self._of_numbers
