"""What a model loses on each sequence of a text.

A sequence is what the task makes of the text: a line, or a block of tokens. It has targets: a language model's next
words, a masked model's masked ones, the spans that an encoder-decoder fills in.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.evaluation.rows import Rows


class Row(NamedTuple):
    """Of one sequence."""

    loss: float  # bits, of all its targets
    right: int
    targets: int


class Sequences(Rows):
    unit = "sequences"

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Logits: B x T x V, or N x V of the N targets alone; of no target, fairseq's criterion takes all on a GPU."""
        wanted = sample["target"]
        real = wanted.ne(sample["padding"])
        targets, of = wanted[real], real.nonzero()[:, 0]
        scored = (logits[real] if logits.dim() == 3 else logits[: len(targets)]).float()
        loss = cross_entropy(scored, targets, reduction="none").double() / math.log(2)
        right = scored.argmax(-1).eq(targets)
        for place, name in enumerate(sample["id"].tolist()):
            own = of == place
            self.rows[name] = Row(float(loss[own].sum()), int(right[own].sum()), int(own.sum()))
            where = torch.stack([real[place].nonzero()[:, 0], targets[own]])
            self._targets[name] = where.cpu().numpy().astype("<i8").tobytes()

    @property
    def targets(self) -> int:
        return int(self.table[:, 2].sum())

    @property
    def accuracy(self) -> dict[str, float]:
        """In per cent, of all targets."""
        _, right, targets = self.table.sum(axis=0)
        return {"accuracy": 100 * right / targets}
