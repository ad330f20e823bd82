"""A run of fairseq-train and its record: its settings, and the time of each of its sessions."""

import contextlib
import itertools
import signal
import subprocess
import threading
import time
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType

from msgspec.structs import replace

from realformer_nmt.checkpoints.run_files import AVERAGE, CHECKPOINTS, CURVES, LAST, RECORD, RUN
from realformer_nmt.checkpoints.train_record import TrainingSession, TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import writing
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.files.records import Fingerprint
from realformer_nmt.common.processes.parent_death_signal import dependent_child
from realformer_nmt.common.stages.provenance import fingerprint
from realformer_nmt.common.stages.stage import AGAIN, Stage
from realformer_nmt.common.stages.versions import versions
from realformer_nmt.protocols import trackers
from realformer_nmt.protocols.command import Machines, runnable

RECORD_INTERVAL = 20.0  # seconds: a killed run loses so much of its recorded time
UNWRITTEN = (UserError, OSError)  # of a record that is soon written again: a disk may be full for a while
LOCK = ".lock-{}"  # with the number of the machine


class Training:
    """Training of a stage, recorded in FOLDER/train.json by the machine of rank 0; `complete` there: all is trained."""

    def __init__(self, stage: Stage, summary: TrainRecord, machines: Machines, fresh: bool) -> None:
        self.stage, self.summary, self.machines, self.fresh = stage, summary, machines, fresh
        self.folder = stage.record.parent
        self.fingerprints: dict[str, Fingerprint] = {}

    def run(self, argv: list[str]) -> int:
        with locked(self.folder / LOCK.format(self.machines.node_rank), "trains"):
            if self.fresh and not self.machines.node_rank:
                set_aside(self.folder)
            if self.stage.is_up_to_date(self.fresh):
                return 0
            record = self.stage.record
            resumes = record.is_file() and not self.fresh
            previous = records.read(record, TrainRecord, AGAIN) if resumes else None
            if previous is None:
                self._check_no_checkpoints()
            self.sessions = list(previous.sessions) if previous else []
            self.checkpoints: dict[str, str] = dict(previous.checkpoints) if previous else {}
            self.origin = self.stage.origin(previous)
            status = self._train(argv)
        if status:
            command = "the same command without --fresh" if self.fresh else "the same command"
            advice = f"; rerun {command} to resume" if self._has_checkpoints() else ""
            end = f"status {status}, for the reason above" if status > 0 else signal.Signals(-status).name
            raise UserError(f"fairseq-train ended with {end}{advice}")
        if not self._has_checkpoints():
            raise UserError(
                "fairseq-train ended without a checkpoint, for the reason above: nothing was trained; change the flag "
                "that ended it, and add --fresh"
            )
        print(f"{self.folder}: trained in {self._seconds():.0f} s")
        return 0

    def _check_no_checkpoints(self) -> None:
        """Refuse checkpoints without a record: fairseq would go on from any that is there."""
        if self.machines.node_rank:
            return
        checkpoints = self._checkpoints()
        if checkpoints:
            raise UserError(
                f"{checkpoints[0]} belongs to a training without {RECORD}: name another --folder, or pass --fresh to "
                "set it aside"
            )

    def _checkpoints(self) -> list[Path]:
        return sorted((self.folder / CHECKPOINTS).glob("checkpoint*.pt"))

    def _has_checkpoints(self) -> bool:
        """Tell whether a training left checkpoints, as far as this machine can know: that of rank 0 writes them."""
        return bool(self.machines.node_rank or self._checkpoints())

    def _train(self, argv: list[str]) -> int:
        session = TrainingSession(
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            seconds=0.0,
            gpus=self.summary.gpus or 0,
            precision=self.summary.precision,
            versions=versions(),
        )
        self.sessions.append(session)
        start = time.monotonic()
        self._write(argv, complete=False)
        command = runnable(going_on(argv, self.folder / CHECKPOINTS))
        environment = trackers.environment(self.folder)
        process = subprocess.Popen(command, env=environment, preexec_fn=dependent_child())

        def end(number: int, _: FrameType | None) -> None:
            process.send_signal(number)

        signals = (signal.SIGTERM, signal.SIGINT) if threading.current_thread() is threading.main_thread() else ()
        handlers = {number: signal.signal(number, end) for number in signals}
        try:
            status: int | None = None
            while status is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(RECORD_INTERVAL)
                self.sessions[-1] = replace(session, seconds=round(time.monotonic() - start, 1))
                with contextlib.suppress(*(UNWRITTEN if status is None else ())):
                    self._write(argv, complete=status == 0 and self._has_checkpoints())
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return status

    def _seconds(self) -> float:
        return sum(session.seconds for session in self.sessions)

    def _write(self, argv: list[str], complete: bool) -> None:
        if self.machines.node_rank:
            return
        gpu_seconds = sum(session.seconds * session.gpus for session in self.sessions)
        paths = [*sorted((self.folder / CHECKPOINTS).glob("*.pt")), self.folder / CURVES] if complete else []
        record = replace(
            self.summary,
            command=argv,
            sessions=self.sessions,
            wall_clock_hours=self._seconds() / 3600,
            gpu_hours=gpu_seconds / 3600,
            complete=complete,
            checkpoints=self._listed(),
            made_from=self.origin,
            outputs=self.stage.fingerprints(*(path for path in paths if path.is_file())),
        )
        self.stage.write(record)

    def _listed(self) -> dict[str, str]:
        """Return all checkpoints so far, as fairseq removes some."""
        for path in sorted((self.folder / CHECKPOINTS).glob("*.pt")):
            with contextlib.suppress(FileNotFoundError):  # fairseq has just removed it
                state = self.fingerprints[path.name] = fingerprint(path, self.fingerprints.get(path.name))
                self.checkpoints[state.sha256] = path.name
        return self.checkpoints


def going_on(argv: list[str], checkpoints: Path) -> list[str]:
    """Return the command that goes on from a run's own checkpoints where it has some, whatever it began from.

    fairseq would begin from --restore-file again, and reset again what the --reset- flags name."""
    begins = any(word.startswith(("--rese", "--rest")) for word in argv)
    if not begins or not any(checkpoints.glob("checkpoint*.pt")):
        return argv
    return [*(word for word in argv if not word.startswith("--rese")), "--restore-file", LAST]


def set_aside(folder: Path) -> None:
    """Move a run's files to a folder of their own, the record first: what a kill leaves behind is then no run.

    Its average goes before, or other commands would take it for the new run's."""
    names = [name for name in (AVERAGE, f"{AVERAGE}.json", *RUN) if (folder / name).exists()]
    if not names:
        return
    paths = (folder / f"before-{number}" for number in itertools.count(1))
    aside = next(path for path in paths if not path.exists())
    with writing(aside):
        aside.mkdir()
        for name in names:
            (folder / name).replace(aside / name)
    print(f"{folder}: the run before was moved to {aside}; remove it if it is of no use")
