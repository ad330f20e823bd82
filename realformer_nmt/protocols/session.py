"""A run of fairseq-train and what is noted of it: its settings, and its time over every session that it took."""

import contextlib
import signal
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType
from typing import Any

from realformer_nmt import records
from realformer_nmt.children import dying_with_us
from realformer_nmt.corpora.stages import write_json
from realformer_nmt.errors import UserError
from realformer_nmt.lock import alone
from realformer_nmt.protocols.command import Machines, runnable

FIXED = ("protocol", "arch", "layers", "tokens_a_step", "epochs", "flags", "settings")  # through a run's whole life
NOTED_EVERY = 20.0  # seconds: what a run that is killed loses of its time


class Training:
    """FOLDER/train.json is written by the machine of rank 0; `complete` in it says that all is trained."""

    def __init__(self, folder: Path, summary: dict[str, Any], machines: Machines) -> None:
        self.folder = folder
        self.machines = machines
        self.note = folder / "train.json"
        before = records.read(self.note, "remove it to train anew") if self.note.is_file() else {}
        self._demand_same(before, summary)
        self.complete = bool(before.get("complete"))
        self.sessions: list[dict[str, Any]] = before.get("sessions", [])
        self.summary = summary

    def _demand_same(self, before: dict[str, Any], summary: dict[str, Any]) -> None:
        other = [name for name in FIXED if before and before.get(name) != summary[name]]
        if other:
            told = "; ".join(f"{name} was {before.get(name)}, now {summary[name]}" for name in other)
            raise UserError(f"{self.folder} holds a run with other settings: {told}. Give another --folder")

    def run(self, words: list[str]) -> int:
        if self.complete:
            print(f"{self.folder}: trained already")
            return 0
        self.folder.mkdir(parents=True, exist_ok=True)
        with alone(self.folder / f".lock-{self.machines.node_rank}", "trains") as lock:
            status = self._train(words, lock)
        if status:
            raise UserError(f"fairseq-train ended with status {status}, for the reason above; the same command goes on")
        print(f"{self.folder}: trained in {self._seconds():.0f} s")
        return 0

    def _train(self, words: list[str], lock: int) -> int:
        gpus = self.summary["gpus"]
        session = {"started": datetime.now(timezone.utc).isoformat(timespec="seconds"), "seconds": 0.0, "gpus": gpus}
        self.sessions.append(session)
        start = time.monotonic()
        self._write(words, complete=False)
        process = subprocess.Popen(runnable(words), pass_fds=(lock,), **dying_with_us())

        def end(number: int, _: FrameType | None) -> None:
            process.send_signal(number)

        handlers = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            status: int | None = None
            while status is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(NOTED_EVERY)
                session["seconds"] = round(time.monotonic() - start, 1)
                self._write(words, complete=status == 0)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return status

    def _seconds(self) -> float:
        return sum(session["seconds"] for session in self.sessions)

    def _write(self, words: list[str], complete: bool) -> None:
        if self.machines.node_rank:
            return
        gpu_seconds = sum(session["seconds"] * session["gpus"] for session in self.sessions)
        times = {"wall_clock_hours": self._seconds() / 3600, "gpu_hours": gpu_seconds / 3600}
        content = {**self.summary, "command": words, "sessions": self.sessions, **times, "complete": complete}
        write_json(self.note, content)
