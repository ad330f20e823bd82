"""Writer of cell.json: the sessions of a cell, the faults in them, and how it ended."""

from datetime import datetime, timezone

from msgspec.structs import replace

from realformer_nmt.common.files import records
from realformer_nmt.common.stages.versions import hardware
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_files import SCORES, CellFiles
from realformer_nmt.comparison.records.cell_record import CellSession


class CellLog:
    def __init__(self, files: CellFiles) -> None:
        self._file, self._record, self._final = files.cell.record_file, files.record, files.final

    def start(self, cell: Cell, entropy: float | None) -> None:
        self._write(
            state="running",
            evidence=None,
            sessions=[*self._record.sessions, CellSession(started=_now())],
            unigram_entropy=entropy,
            machine=hardware(),
            cell=cell.name,
            failure=cell.failure,
            grid_digest=cell.grid_digest,
            scores=[stage.record.name for stage in cell.stages if stage.record.match(SCORES)],
        )

    def fault(self, message: str) -> None:
        last = self._record.sessions[-1]
        self._write(sessions=[*self._record.sessions[:-1], replace(last, faults=[*last.faults, message])])

    def end(self, state: str, evidence: str | None = None) -> None:
        last = replace(self._record.sessions[-1], finished=_now())
        self._write(state=state, evidence=evidence, sessions=[*self._record.sessions[:-1], last])

    def lost(self, evidence: str) -> None:
        """Record the error of a job that ended without recording how."""
        if not self._final:
            self._write(state="error", evidence=evidence)

    def _write(self, **changes: object) -> None:
        self._record = replace(self._record, **changes)
        records.write(self._file, self._record)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
