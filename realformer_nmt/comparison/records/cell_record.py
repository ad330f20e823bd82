"""cell.json: the state of a cell, and the machine and the sessions that it ran in."""

from datetime import datetime, timezone
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import Finite, Text
from realformer_nmt.common.stages.stage import AGAIN
from realformer_nmt.common.stages.versions import Machine, hardware
from realformer_nmt.comparison.grid.cell import Cell, Failure

STUCK = "stuck"
MODEL_FAILED = ("diverged", STUCK)  # an "error" is the machine's
FINAL = ("done", *MODEL_FAILED)
ENDED = (*FINAL, "error")  # the next command tries an error again


class CellSession(Struct, frozen=True, kw_only=True):
    """Time between a start of the cell and its end or death."""

    started: Text | None = None
    finished: Text | None = None
    faults: list[str] = []  # of stages that were tried again


class CellRecord(Struct, frozen=True, kw_only=True):
    """Content of cell.json."""

    state: Literal["waiting", "running", "done", "stuck", "diverged", "error"]
    evidence: Text | None = None
    sessions: list[CellSession]
    unigram_entropy: Finite | None = None
    machine: Machine | None = None
    failure: Failure | None = None  # the rule that it was judged by
    records: list[Text] = []  # names of the files that it has once it is done


WAITING = CellRecord(state="waiting", sessions=[])  # before the first start


def read(cell: Cell) -> CellRecord:
    return records.read(cell.record_file, CellRecord, AGAIN) if cell.record_file.exists() else WAITING


class CellLog:
    """Writer of cell.json: the sessions of a cell, the faults in them, and how it ended."""

    def __init__(self, cell: Cell) -> None:
        self._cell, self._record = cell, read(cell)

    def start(self, entropy: float | None) -> None:
        self._write(
            state="running",
            evidence=None,
            sessions=[*self._record.sessions, CellSession(started=_now())],
            unigram_entropy=entropy,
            machine=hardware(),
            failure=self._cell.failure,
            records=[str(stage.record.relative_to(self._cell.folder)) for stage in self._cell.stages],
        )

    def fault(self, message: str) -> None:
        last = self._record.sessions[-1]
        self._write(sessions=[*self._record.sessions[:-1], replace(last, faults=[*last.faults, message])])

    def end(self, state: str, evidence: str | None = None) -> None:
        last = replace(self._record.sessions[-1], finished=_now())
        self._write(state=state, evidence=evidence, sessions=[*self._record.sessions[:-1], last])

    def lost(self, evidence: str) -> None:
        """Record the error of a job that ended without recording how."""
        if self._record.state not in FINAL:
            self._write(state="error", evidence=evidence)

    def _write(self, **changes: object) -> None:
        self._record = replace(self._record, **changes)
        records.write(self._cell.record_file, self._record)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
