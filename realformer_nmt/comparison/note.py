"""cell.json: what became of a cell, on which machine, in which sessions."""

from datetime import datetime, timezone
from typing import Any

from realformer_nmt import records
from realformer_nmt.comparison.cells import Cell
from realformer_nmt.corpora.stages import write_json
from realformer_nmt.evaluation.environment import hardware
from realformer_nmt.lock import held

MODEL_FAILED = ("stuck", "diverged")
FINAL = ("done", *MODEL_FAILED)


class Note:
    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        empty: dict[str, Any] = {"state": "waiting", "evidence": None, "sessions": []}
        exists = cell.note.is_file()
        self.content = records.read(cell.note, "remove it, and the same command makes it again") if exists else empty

    @property
    def state(self) -> str:
        """Of a cell that calls itself running the lock says whether it is."""
        state = str(self.content["state"])
        return state if state != "running" or held(self._cell.lock) else "waiting"

    @property
    def final(self) -> bool:
        return self.content["state"] in FINAL

    def begin(self, entropy: float) -> None:
        self.content |= {"unigram_entropy": entropy, "machine": hardware(), "evidence": None}
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
        write_json(self._cell.note, self.content)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
