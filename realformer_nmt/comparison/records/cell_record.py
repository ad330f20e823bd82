"""cell.json: the state of a cell, the machine and the sessions that it ran in."""

import functools
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from realformer_nmt.common import checksummed_json, json_records, stage_record
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import held
from realformer_nmt.common.versions import hardware
from realformer_nmt.comparison.grid.cell import Cell, CellFolder
from realformer_nmt.comparison.records import kinds, record_links
from realformer_nmt.comparison.records.kinds import absent_or, finite, number, text

MODEL_FAILED = ("stuck", "diverged")
FINAL = ("done", *MODEL_FAILED)
AGAIN = "use --fresh to redo it"
WANTED = {"state": str, "sessions": list}
OF_CELL = {
    **{"evidence": absent_or(text), "unigram_entropy": absent_or(finite)},
    "machine": absent_or(kinds.table_of(absent_or(kinds.either(text, number)))),
    record_links.NAME: absent_or(text),
}
SESSION = dict.fromkeys(("started", "finished"), absent_or(text))
DAMAGED = "damaged"  # was done, but its results have changed since
RESULTS = ("run*.json", "translation*/translation.json")
ENDED = (*FINAL, "error")  # the next command tries an error again


class CellRecord:
    def __init__(self, cell: CellFolder) -> None:
        self._cell = cell
        empty: dict[str, Any] = {"state": "waiting", "evidence": None, "sessions": []}
        exists = cell.note.is_file()
        self.content = checksummed_json.read(cell.note, AGAIN, WANTED) if exists else empty
        if self.content["state"] not in (*ENDED, "waiting", "running"):
            raise UserError(f"{cell.note} holds the unknown state {self.content['state']}; {AGAIN}")
        with json_records.expected(cell.note, AGAIN):
            kinds.check(self.content, OF_CELL)
            kinds.check_rows(self.content["sessions"], SESSION, "sessions")

    @property
    def state(self) -> str:
        """State of the cell: `running` only while its lock is held, `done` only while its results are complete."""
        state = str(self.content["state"])
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
        return record_links.breaks(self._cell, self.content) if self.final else []

    @property
    def evidence(self) -> str | None:
        if self.state == DAMAGED:
            return "; ".join(self.damage)
        evidence: str | None = self.content["evidence"]
        return evidence

    @property
    def failed(self) -> bool:
        return self.content["state"] in MODEL_FAILED

    @property
    def final(self) -> bool:
        return self.content["state"] in FINAL

    def start(self, cell: Cell, entropy: float | None) -> None:
        self.content |= {"unigram_entropy": entropy, "machine": hardware(), "evidence": None}
        self.content |= {record_links.NAME: cell.name, "failure": asdict(cell.failure), "asked": cell.grid_digest}
        self.content["sessions"].append({"started": _now(), "finished": None, "faults": []})
        self._write("running")

    def fault(self, message: str) -> None:
        self.content["sessions"][-1]["faults"].append(message)
        self._write("running")

    def end(self, state: str, evidence: str | None = None) -> None:
        self.content["evidence"] = evidence
        self.content["sessions"][-1]["finished"] = _now()
        self._write(state)

    def lost(self, evidence: str) -> None:
        """Record the error of a job that ended without recording how."""
        if self.content["state"] not in FINAL:
            self.content["evidence"] = evidence
            self._write("error")

    def _write(self, state: str) -> None:
        self.content["state"] = state
        checksummed_json.write(self._cell.note, self.content)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
