"""What a model loses on each sequence of a text, beside what fairseq-validate measures over all of them.

A sequence is what the task makes of the text: a line, or a block of tokens. It has targets: a language model's next
words, a masked model's masked ones.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq.tasks import FairseqTask
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.common.json_records import expected
from realformer_nmt.common.text_lines import read_recorded

AGAIN = "`realformer-nmt evaluate --anew` makes it again"


class Row(NamedTuple):
    """Of one sequence."""

    loss: float  # bits, of all its targets
    right: int
    targets: int


class Sequences:
    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}  # by their places in the text
        self._targets: dict[int, bytes] = {}

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
    def lines(self) -> list[str]:
        return ["\t".join(map(str, self.rows[name])) for name in sorted(self.rows)]

    @property
    def digest(self) -> str:
        """Of the targets and their positions: two models that are compared had the same."""
        return hashlib.sha256(b"\0".join(self._targets[name] for name in sorted(self._targets))).hexdigest()


@contextmanager
def watched() -> Iterator[Sequences]:
    """Of the one model that is validated meanwhile, by fairseq's own method and criterion."""
    found, validate = Sequences(), FairseqTask.valid_step

    def step(task: Any, sample: Any, model: Any, criterion: Any) -> Any:
        def add(_model: Any, _given: Any, output: Any) -> None:
            found.add({**sample, "padding": task.target_dictionary.pad()}, output[0])

        handle = model.register_forward_hook(add)
        try:
            return validate(task, sample, model, criterion)
        finally:
            handle.remove()

    FairseqTask.valid_step = step
    try:
        yield found
    finally:
        FairseqTask.valid_step = validate


def read(record: Path, run: Mapping[str, Any]) -> np.ndarray:
    """A row a sequence: bits, right targets, targets."""
    with expected(record, AGAIN):
        file = run["files"]["sequences"]
        rows = [line.split("\t") for line in read_recorded(record.parent / file["path"], file["sha256"], record)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(Row._fields))
