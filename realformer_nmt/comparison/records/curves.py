"""Learning curves: the JSON lines that fairseq-train writes for `realformer-nmt train --curves`, and their trend."""

import contextlib
import json
import statistics
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from realformer_nmt.checkpoints.model_description import Number
from realformer_nmt.checkpoints.run_files import CURVES
from realformer_nmt.common.files.json_records import UNLIKE
from realformer_nmt.comparison.records.cell_record import STUCK
from realformer_nmt.tasks import TASKS, TRANSLATION

TRAIN = {"loss": "loss", "nll_loss": "nll_loss", "gnorm": "gnorm", "tokens_a_second": "wps"}
VALID = {"loss": "valid_loss", "nll_loss": "valid_nll_loss", "bleu": "valid_bleu"}
TOO_SHORT = "too few updates"  # shown instead of `stuck`
FALL = 0.1  # bits a token, from the third quarter of a training to the last


class CurvePoint(Struct, frozen=True, kw_only=True):
    """Values that fairseq logged at an update, losses in bits per target token; those it did not log are None."""

    update: int
    nll_loss: Number | None = None
    loss: Number | None = None
    gnorm: Number | None = None
    tokens_a_second: Number | None = None
    bleu: Number | None = None


class Curves:
    """Points by rising update, from a file that may still grow. A resumed run repeats updates: the last line of an
    update counts."""

    def __init__(self, folder: Path, task: str = TRANSLATION) -> None:
        self._file = folder / CURVES
        self._loss = TASKS[task].loss
        self._position = 0  # bytes read so far
        self._train: dict[int, CurvePoint] = {}
        self._valid: dict[int, CurvePoint] = {}
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
            with contextlib.suppress(*UNLIKE):  # of a line that a killed process left incomplete
                self._add(json.loads(line))
        return bool(end)

    def _add(self, line: Mapping[str, object]) -> None:
        if "num_updates" in line:
            point = _values(line, "num_updates", {**TRAIN, "nll_loss": self._loss})
            self._train[point.update] = point
        if "valid_num_updates" in line:
            point = _values(line, "valid_num_updates", {**VALID, "nll_loss": f"valid_{self._loss}"})
            self._valid[point.update] = point

    @property
    def train(self) -> list[CurvePoint]:
        return [self._train[update] for update in sorted(self._train)]

    @property
    def valid(self) -> list[CurvePoint]:
        return [self._valid[update] for update in sorted(self._valid)]


def _values(line: Mapping[str, object], count: str, names: Mapping[str, str]) -> CurvePoint:
    """Return the values of a line, by our names; where fairseq logs one loss only, it is nll_loss too."""
    numbers = {name: float(str(line[key])) for name, key in names.items() if key in line}
    if "loss" in numbers:
        numbers.setdefault("nll_loss", numbers["loss"])
    return CurvePoint(update=int(str(line[count])), **numbers)


def all_too_short(cells: Collection[tuple[str, Sequence[CurvePoint]]]) -> bool:
    """Tell by their states and training curves whether all models are stuck while all losses still fall."""
    return bool(cells) and all(state == STUCK and still_falls(train) for state, train in cells)


def still_falls(train: Sequence[CurvePoint]) -> bool:
    """Tell whether the mean loss of the last quarter of the points is clearly below that of the quarter before."""
    losses = [point.nll_loss for point in train if isinstance(point.nll_loss, float)]
    quarter = max(1, len(losses) // 4)
    before, last = losses[-2 * quarter : -quarter], losses[-quarter:]
    return bool(before) and statistics.fmean(last) < statistics.fmean(before) - FALL
