"""Rows of a model of texts: its loss on each sequence, or its class or number for each sentence, or pair of sentences.

A sequence is the task's unit of text: a line, or a block of tokens. Its targets are the next words of a language model,
the masked words of a masked model, or the spans that an encoder-decoder fills in.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.evaluation.rows.row_table import MeasuredRows


class Sequences(MeasuredRows):
    """Rows of sequences: bits, summed over the targets; targets predicted; targets."""

    unit = "sequences"

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Add the rows of a batch; logits are B x T x V, or N x V of the N targets alone.

        Where there is no target, fairseq's criterion computes all logits on a GPU.
        """
        is_target = sample["target"].ne(sample["padding"])  # B x T
        targets, sequences = sample["target"][is_target], is_target.nonzero()[:, 0]
        logits = (logits[is_target] if logits.dim() == 3 else logits[: len(targets)]).float()
        loss = cross_entropy(logits, targets, reduction="none").double() / math.log(2)
        right = logits.argmax(-1).eq(targets)
        for slot, index in enumerate(sample["id"].tolist()):
            mask = sequences == slot
            self.rows[index] = (float(loss[mask].sum()), int(right[mask].sum()), int(mask.sum()))
            positions = torch.stack([is_target[slot].nonzero()[:, 0], targets[mask]])
            self._targets[index] = positions.cpu().numpy().astype("<i8").tobytes()

    @property
    def targets(self) -> int:
        return int(self.table[:, 2].sum())

    @property
    def accuracy(self) -> dict[str, float]:
        """Accuracy over all targets, in per cent."""
        _, right, targets = self.table.sum(axis=0)
        return {"accuracy": 100 * right / targets}


class Sentences(MeasuredRows):
    """Rows of sentences: bits of a class or squared error of a number, prediction, target.

    There are none if a sentence has several numbers.
    """

    unit = "sentences"

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Add the rows of a batch; logits are B x classes, or B x 1 for numbers."""
        self.of_numbers = sample["target"].is_floating_point()
        if sample["target"].numel() != len(logits):
            return
        logits, target = logits.float(), sample["target"].view(-1)
        if self.of_numbers:
            prediction = logits.view(-1)
            loss = (prediction - target) ** 2
        else:
            prediction = logits.argmax(-1)
            loss = cross_entropy(logits, target, reduction="none") / math.log(2)
        columns = torch.stack([loss.double(), prediction.double(), target.double()], dim=1)
        for index, (error, predicted, true) in zip(sample["id"].tolist(), columns.tolist(), strict=True):
            self.rows[index] = (error, predicted, true)
            self._targets[index] = repr(true).encode()
