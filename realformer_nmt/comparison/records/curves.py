"""Learning curves: the JSON lines that fairseq-train writes for `realformer-nmt train --curves`."""

import json
from pathlib import Path
from typing import Any

from realformer_nmt.common import json_records
from realformer_nmt.protocols.run_files import CURVES
from realformer_nmt.protocols.tasks import TASKS, TRANSLATION

CurveValues = dict[str, Any]
TRAIN = {"loss": "loss", "nll_loss": "nll_loss", "gnorm": "gnorm", "tokens_a_second": "wps"}
VALID = {"loss": "valid_loss", "nll_loss": "valid_nll_loss", "bleu": "valid_bleu"}


class Curves:
    """Points by rising update, of a file that may still grow. A run that is resumed makes updates again: the last
    line of an update counts."""

    def __init__(self, folder: Path, task: str = TRANSLATION) -> None:
        self._file = folder / CURVES
        self._loss = TASKS[task].loss
        self._read = 0  # bytes
        self._train: dict[int, CurveValues] = {}
        self._valid: dict[int, CurveValues] = {}
        self.grow()

    def grow(self) -> bool:
        """Whether something new was read; a line that is still being written waits for its end."""
        if not self._file.is_file():
            return False
        with self._file.open("rb") as file:
            file.seek(self._read)
            lines = file.read().rpartition(b"\n")
        self._read += len(lines[0] + lines[1])
        for line in lines[0].split(b"\n"):
            self._add(_record(line))
        return bool(lines[1])

    def _add(self, record: dict[str, Any]) -> None:
        of_train, of_valid = {**TRAIN, "nll_loss": self._loss}, {**VALID, "nll_loss": f"valid_{self._loss}"}
        kinds = (("num_updates", of_train, self._train), ("valid_num_updates", of_valid, self._valid))
        for count, names, points in kinds:
            if count in record:
                hint = "a line of it is none of fairseq-train's; `--fresh` trains again"
                with json_records.expected(self._file, hint):
                    numbers = {name: float(record[key]) for name, key in names.items() if key in record}
                    alike = {"nll_loss": numbers["loss"]} if "loss" in numbers else {}  # where fairseq says one of them
                    points[int(record[count])] = {"update": int(record[count]), **alike, **numbers}

    @property
    def train(self) -> list[CurveValues]:
        return [self._train[update] for update in sorted(self._train)]

    @property
    def valid(self) -> list[CurveValues]:
        return [self._valid[update] for update in sorted(self._valid)]


def _record(line: bytes) -> dict[str, Any]:
    """Nothing of a line that a killed process did not finish, or that none of ours wrote."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
