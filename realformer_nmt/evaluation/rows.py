"""What a model makes of each sequence, sentence or question, beside what fairseq-validate measures over all of them: a
row each, of three numbers."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.tasks import FairseqTask
from torch import Tensor

from realformer_nmt.common.json_records import expected
from realformer_nmt.common.text_lines import read_recorded
from realformer_nmt.evaluation.evaluate import EvaluateRequest

AGAIN = "`realformer-nmt evaluate --anew` makes it again"
COLUMNS = 3
Row = tuple[float, float, float]


class Rows:
    unit: str  # of which each has a row
    loss = "nll_loss"  # as fairseq calls that of a target

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}  # by their places in the text
        self._targets: dict[int, bytes] = {}

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """A batch."""
        raise NotImplementedError

    def finish(self, request: EvaluateRequest) -> None:
        """What `evaluate` is asked for, when fairseq has measured it."""

    @property
    def table(self) -> np.ndarray:
        found = [self.rows[name] for name in sorted(self.rows)]
        return np.array(found, dtype=np.float64).reshape(len(found), COLUMNS)

    @property
    def lines(self) -> list[str]:
        return ["\t".join(map(str, self.rows[name])) for name in sorted(self.rows)]

    @property
    def digest(self) -> str:
        """Of the targets: two models that are compared had the same."""
        return hashlib.sha256(b"\0".join(self._targets[name] for name in sorted(self._targets))).hexdigest()

    @property
    def targets(self) -> int:
        return len(self.rows)

    @property
    def of_numbers(self) -> bool:
        """And of no classes."""
        return False

    @property
    def accuracy(self) -> dict[str, float]:
        """Where fairseq does not tell it."""
        return {}


@contextmanager
def watched(found: Rows | None) -> Iterator[None]:
    """While one model is validated, by fairseq's own method and criterion."""
    validate = FairseqTask.valid_step

    def step(task: Any, sample: Any, model: Any, criterion: Any) -> Any:
        def add(_model: Any, _given: Any, output: Any) -> None:
            if found is not None:
                found.add({**sample, "padding": task.target_dictionary.pad()}, output[0])

        handle = model.register_forward_hook(add)
        try:
            return validate(task, sample, model, criterion)
        finally:
            handle.remove()

    FairseqTask.valid_step = step
    try:
        yield
    finally:
        FairseqTask.valid_step = validate


def read(record: Path, run: Mapping[str, Any]) -> np.ndarray:
    with expected(record, AGAIN):
        file = run["files"]["sequences"]
        rows = [line.split("\t") for line in read_recorded(record.parent / file["path"], file["sha256"], record)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), COLUMNS)
