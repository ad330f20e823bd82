"""Learning curves: the JSON lines that fairseq-train writes for `realformer-nmt train --curves`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realformer_nmt.common import json_records
from realformer_nmt.protocols.run_files import CURVES
from realformer_nmt.tasks import TASKS, TRANSLATION

CurveValues = dict[str, Any]
TRAIN = {"loss": "loss", "nll_loss": "nll_loss", "gnorm": "gnorm", "tokens_a_second": "wps"}
VALID = {"loss": "valid_loss", "nll_loss": "valid_nll_loss", "bleu": "valid_bleu"}


class Curves:
    """Points by rising update, from a file that may still grow. A resumed run repeats updates: the last line of an
    update counts."""

    def __init__(self, folder: Path, task: str = TRANSLATION) -> None:
        self._file = folder / CURVES
        self._loss = TASKS[task].loss
        self._position = 0  # bytes read so far
        self._train: dict[int, CurveValues] = {}
        self._valid: dict[int, CurveValues] = {}
        self.grow()

    def grow(self) -> bool:
        """Read the new complete lines, and tell whether there are any."""
        if not self._file.is_file():
            return False
        with self._file.open("rb") as file:
            file.seek(self._position)
            lines, end, _ = file.read().rpartition(b"\n")
        self._position += len(lines + end)
        for line in lines.split(b"\n"):
            self._add(_record(line))
        return bool(end)

    def _add(self, record: dict[str, Any]) -> None:
        with json_records.expected(self._file, "a line of it is none of fairseq-train's; `--fresh` trains again"):
            if "num_updates" in record:
                names = {**TRAIN, "nll_loss": self._loss}
                self._train[int(record["num_updates"])] = _values(record, "num_updates", names)
            if "valid_num_updates" in record:
                names = {**VALID, "nll_loss": f"valid_{self._loss}"}
                self._valid[int(record["valid_num_updates"])] = _values(record, "valid_num_updates", names)

    @property
    def train(self) -> list[CurveValues]:
        return [self._train[update] for update in sorted(self._train)]

    @property
    def valid(self) -> list[CurveValues]:
        return [self._valid[update] for update in sorted(self._valid)]


def _values(record: Mapping[str, Any], count: str, names: Mapping[str, str]) -> CurveValues:
    """Return the values of a line, by our names; where fairseq logs one loss only, it is nll_loss too."""
    numbers = {name: float(record[key]) for name, key in names.items() if key in record}
    if "loss" in numbers:
        numbers.setdefault("nll_loss", numbers["loss"])
    return {"update": int(record[count]), **numbers}


def _record(line: bytes) -> dict[str, Any]:
    """Return a line's table; nothing of a line that a killed process left incomplete, or that is no table."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
