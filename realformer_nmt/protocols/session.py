"""A run of fairseq-train and what is noted of it: its settings, and its time over every session that it took."""

import contextlib
import itertools
import signal
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType

from realformer_nmt.checkpoints.run_records import LISTED
from realformer_nmt.common.atomic_files import writing
from realformer_nmt.common.child_processes import dying_with_us
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import Stage
from realformer_nmt.common.folder_lock import alone
from realformer_nmt.common.provenance import Record, fingerprint
from realformer_nmt.common.versions import versions
from realformer_nmt.protocols import trackers
from realformer_nmt.protocols.command import Machines, runnable
from realformer_nmt.protocols.run_files import CHECKPOINTS, CURVES, RECORD, RUN

NOTED_EVERY = 20.0  # seconds: what a run that is killed loses of its time
LOCK = ".lock-{}"  # of the machine of a rank


class Training:
    """FOLDER/train.json is written by the machine of rank 0; `complete` in it says that all is trained."""

    def __init__(self, asked: Stage, summary: Record, machines: Machines, anew: bool) -> None:
        self.asked, self.summary, self.machines, self.anew = asked, summary, machines, anew
        self.folder = asked.record.parent
        self.fingerprints: dict[str, Record] = {}

    def run(self, words: list[str]) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        with alone(self.folder / LOCK.format(self.machines.node_rank), "trains") as lock:
            if self.anew and not self.machines.node_rank:
                set_aside(self.folder)
            if self.asked.finished(self.anew):
                return 0
            before = self.asked.standing().record or {}
            self._demand_known(before)
            self.sessions: list[Record] = before.get("sessions", [])
            self.checkpoints: dict[str, str] | None = before.get(LISTED, None if before else {})
            self.made = self.asked.made(before)
            status = self._train(words, lock)
        if status:
            raise UserError(f"fairseq-train ended with status {status}, for the reason above; the same command goes on")
        print(f"{self.folder}: trained in {self._seconds():.0f} s")
        return 0

    def _demand_known(self, before: Record) -> None:
        """fairseq would go on from any checkpoint that is there."""
        known = before or self.machines.node_rank
        others = [] if known else sorted((self.folder / CHECKPOINTS).glob("checkpoint*.pt"))
        if others:
            raise UserError(
                f"{others[0]} belongs to a training without {RECORD}: name another --folder, or pass --anew to set "
                "it aside"
            )

    def _train(self, words: list[str], lock: int) -> int:
        gpus = self.summary["gpus"]
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        precision = self.summary["precision"]
        session = {"started": started, "seconds": 0.0, "gpus": gpus, "precision": precision, "versions": versions()}
        self.sessions.append(session)
        start = time.monotonic()
        self._write(words, complete=False)
        environment = trackers.environment(self.folder)
        process = subprocess.Popen(runnable(words), env=environment, pass_fds=(lock,), **dying_with_us())

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
        content |= self._listed()
        outputs = [*sorted((self.folder / CHECKPOINTS).glob("*.pt")), self.folder / CURVES] if complete else []
        self.asked.write(self.made, content, [path for path in outputs if path.is_file()], finished=complete)

    def _listed(self) -> Record:
        """Each checkpoint that was ever seen, for fairseq removes some; none of a run that an older version began."""
        if self.checkpoints is None:
            return {}
        for path in sorted((self.folder / CHECKPOINTS).glob("*.pt")):
            with contextlib.suppress(FileNotFoundError):  # fairseq has just removed it
                known = self.fingerprints[path.name] = fingerprint(path, self.fingerprints.get(path.name))
                self.checkpoints[known["sha256"]] = path.name
        return {LISTED: self.checkpoints}


def set_aside(folder: Path) -> None:
    """What a run has left, its record first: whatever a kill leaves of it is not taken for a run."""
    left = [name for name in RUN if (folder / name).exists()]
    if not left:
        return
    aside = next(place for number in itertools.count(1) if not (place := folder / f"before-{number}").exists())
    with writing(aside):
        aside.mkdir()
        for name in left:
            (folder / name).replace(aside / name)
    print(f"{folder}: the run before was moved to {aside}; remove it if it is of no use")
