"""A row of three numbers per sequence, sentence or question, collected while fairseq-validate measures them all."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.tasks import FairseqTask
from torch import Tensor

from realformer_nmt.common.files.json_records import expected
from realformer_nmt.common.files.text_lines import read_recorded
from realformer_nmt.evaluation.rows.evaluate import EvaluateRequest
from realformer_nmt.evaluation.run_record import RunRecord

AGAIN = "use `realformer-nmt evaluate --fresh` to redo it"
COLUMNS = 3
Row = tuple[float, float, float]


class MeasuredRows:
    """Rows of a text's units, such as sentences, and the targets that they were measured on."""

    unit: str
    of_numbers = False  # whether the targets are numbers, and not classes

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}  # by index in the text
        self._targets: dict[int, bytes] = {}

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Add the rows of a batch; a unit that several samples share, such as a question, is added by `finish`."""

    def finish(self, request: EvaluateRequest) -> None:
        """Add rows that need the whole request, after fairseq-validate."""

    @property
    def table(self) -> np.ndarray:
        rows = [self.rows[index] for index in sorted(self.rows)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), COLUMNS)

    @property
    def lines(self) -> list[str]:
        return ["\t".join(map(str, self.rows[index])) for index in sorted(self.rows)]

    @property
    def digest(self) -> str:
        """Hash of the targets, which is the same for models that can be compared."""
        return hashlib.sha256(b"\0".join(self._targets[index] for index in sorted(self._targets))).hexdigest()

    @property
    def targets(self) -> int:
        return len(self.rows)

    @property
    def accuracy(self) -> dict[str, float]:
        """Accuracy by name, where fairseq does not compute it."""
        return {}


@contextmanager
def collect_rows(rows: MeasuredRows | None) -> Iterator[None]:
    """Add each batch of a validation by fairseq to the rows."""
    validate = FairseqTask.valid_step

    def step(task: Any, sample: Any, model: Any, criterion: Any) -> Any:
        def add(_model: Any, _inputs: Any, output: Any) -> None:
            if rows is not None:
                rows.add({**sample, "padding": task.target_dictionary.pad()}, output[0])

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


def read(record: Path, run: RunRecord) -> np.ndarray:
    with expected(record, AGAIN):
        file = run.files["sequences"]
        rows = [line.split("\t") for line in read_recorded(record.parent / file.path, file.sha256, record)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), COLUMNS)
