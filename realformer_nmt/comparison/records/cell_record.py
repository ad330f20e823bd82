"""The state of a cell, read from its cell.json and from the results beside it."""

import functools
from datetime import datetime, timezone

from msgspec.structs import replace

from realformer_nmt.common import records, stage_record
from realformer_nmt.common.folder_lock import held
from realformer_nmt.common.versions import hardware
from realformer_nmt.comparison.grid.cell import Cell, CellFolder
from realformer_nmt.comparison.records import record_links
from realformer_nmt.comparison.records.cell_note import WAITING, CellNote, CellSession

MODEL_FAILED = ("stuck", "diverged")
FINAL = ("done", *MODEL_FAILED)
ENDED = (*FINAL, "error")  # the next command tries an error again
DAMAGED = "damaged"  # was done, but its results have changed since
RESULTS = ("run*.json", "translation*/translation.json")


class CellRecord:
    def __init__(self, cell: CellFolder) -> None:
        self._cell = cell
        self.note = records.read(cell.note, CellNote, stage_record.AGAIN) if cell.note.exists() else WAITING

    @property
    def state(self) -> str:
        """State of the cell: `running` only while its lock is held, `done` only while its results are complete."""
        state = self.note.state
        if state == "running" and not held(self._cell.lock):
            return "interrupted"
        return DAMAGED if (state == "done" and self.damage) or (self.failed and self.breaks) else state

    @functools.cached_property
    def damage(self) -> list[str]:
        """Messages about results that differ from their records, or else about records of another cell."""
        messages = []
        for record in sorted(path for pattern in RESULTS for path in self._cell.folder.glob(pattern)):
            messages += stage_record.damage(record)
        return messages or self.breaks

    @functools.cached_property
    def breaks(self) -> list[str]:
        """Messages about records of another cell, where this one has ended."""
        return record_links.breaks(self._cell, self.note) if self.final else []

    @property
    def evidence(self) -> str | None:
        return "; ".join(self.damage) if self.state == DAMAGED else self.note.evidence

    @property
    def failed(self) -> bool:
        return self.note.state in MODEL_FAILED

    @property
    def final(self) -> bool:
        return self.note.state in FINAL

    def start(self, cell: Cell, entropy: float | None) -> None:
        self._write(
            state="running",
            evidence=None,
            sessions=[*self.note.sessions, CellSession(started=_now())],
            unigram_entropy=entropy,
            machine=hardware(),
            cell=cell.name,
            failure=cell.failure,
            grid_digest=cell.grid_digest,
        )

    def fault(self, message: str) -> None:
        last = self.note.sessions[-1]
        self._write(sessions=[*self.note.sessions[:-1], replace(last, faults=[*last.faults, message])])

    def end(self, state: str, evidence: str | None = None) -> None:
        last = replace(self.note.sessions[-1], finished=_now())
        self._write(state=state, evidence=evidence, sessions=[*self.note.sessions[:-1], last])

    def lost(self, evidence: str) -> None:
        """Record the error of a job that ended without recording how."""
        if not self.final:
            self._write(state="error", evidence=evidence)

    def _write(self, **changes: object) -> None:
        self.note = replace(self.note, **changes)
        records.write(self._cell.note, self.note)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
