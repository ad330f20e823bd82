"""What a model of --task sentence_prediction says of each sentence, or pair: a class, or a number."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.evaluation.rows import Rows


class Row(NamedTuple):
    """Of one sentence."""

    loss: float  # bits; of a number the squared error
    told: float
    wanted: float


class Sentences(Rows):
    """Of several numbers a sentence there are no rows."""

    unit, loss = "sentences", "loss"  # the other is divided by the words that are read
    _of_numbers = False

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Logits: B x classes, or B x 1 of a number."""
        self._of_numbers = sample["target"].is_floating_point()
        if sample["target"].numel() != len(logits):
            return
        scored, wanted = logits.float(), sample["target"].view(-1)
        if self._of_numbers:
            told = scored.view(-1)
            loss = (told - wanted) ** 2
        else:
            told = scored.argmax(-1)
            loss = cross_entropy(scored, wanted, reduction="none") / math.log(2)
        columns = (column.tolist() for column in (sample["id"], loss.double(), told.double(), wanted.double()))
        for name, *row in zip(*columns, strict=True):
            self.rows[name] = Row(*row)
            self._targets[name] = repr(row[-1]).encode()

    @property
    def of_numbers(self) -> bool:
        return self._of_numbers
