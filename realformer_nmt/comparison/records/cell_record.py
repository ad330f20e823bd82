"""cell.json: what became of a cell, on which machine, in which sessions."""

import functools
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from realformer_nmt.common import checksummed_json, json_records, stage_record
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import held
from realformer_nmt.common.versions import hardware
from realformer_nmt.comparison.grid.cell import Cell, CellFolder
from realformer_nmt.comparison.records import kinds, links
from realformer_nmt.comparison.records.kinds import absent_or, finite, number, text

MODEL_FAILED = ("stuck", "diverged")
FINAL = ("done", *MODEL_FAILED)
AGAIN = "use --fresh to redo it"
WANTED = {"state": str, "sessions": list}
OF_CELL = {
    **{"evidence": absent_or(text), "unigram_entropy": absent_or(finite)},
    "machine": absent_or(kinds.table_of(absent_or(kinds.either(text, number)))),
    links.NAME: absent_or(text),
}
SESSION = dict.fromkeys(("started", "finished"), absent_or(text))
DAMAGED = "damaged"  # was done, and its results are no longer what they were
RESULTS = ("run*.json", "translation*/translation.json")
ENDED = (*FINAL, "error")  # an error is tried again by the next command, not by this one


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
        """Of a cell that calls itself running the lock says whether it is, of one that is done its results."""
        state = str(self.content["state"])
        if state == "running" and not held(self._cell.lock):
            return "interrupted"
        return DAMAGED if (state == "done" and self.damage) or (self.failed and self.breaks) else state

    @functools.cached_property
    def damage(self) -> list[str]:
        """Of its results, by their own records; and which of the records are another cell's."""
        records = sorted(path for pattern in RESULTS for path in self._cell.folder.glob(pattern))
        return [told for record in records for told in stage_record.damage(record)] or self.breaks

    @functools.cached_property
    def breaks(self) -> list[str]:
        """Which records of a cell that has ended are another's."""
        return links.breaks(self._cell, self.content) if self.final else []

    @property
    def evidence(self) -> str | None:
        found: str | None = self.content["evidence"] if self.state != DAMAGED else "; ".join(self.damage)
        return found

    @property
    def failed(self) -> bool:
        return self.content["state"] in MODEL_FAILED

    @property
    def final(self) -> bool:
        return self.content["state"] in FINAL

    def begin(self, cell: Cell, entropy: float | None) -> None:
        self.content |= {"unigram_entropy": entropy, "machine": hardware(), "evidence": None}
        self.content |= {links.NAME: cell.name, "failure": asdict(cell.failure), "asked": cell.asked}
        self.content["sessions"].append({"started": _now(), "finished": None, "faults": []})
        self._write("running")

    def fault(self, what: str) -> None:
        self.content["sessions"][-1]["faults"].append(what)
        self._write("running")

    def end(self, state: str, evidence: str | None = None) -> None:
        self.content["evidence"] = evidence
        self.content["sessions"][-1]["finished"] = _now()
        self._write(state)

    def lost(self, evidence: str) -> None:
        """By whoever waited for a job that ended without a word of its own."""
        if self.content["state"] not in FINAL:
            self.content["evidence"] = evidence
            self._write("error")

    def _write(self, state: str) -> None:
        self.content["state"] = state
        checksummed_json.write(self._cell.note, self.content)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
