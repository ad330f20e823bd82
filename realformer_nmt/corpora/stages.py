"""Stages of a long preparation: each leaves a folder and a report, is skipped once they are there, else done afresh.

A stage works in a folder of a name of its own, renamed when all of it is written: a process that was killed, or a
child that outlived it, leaves nothing that a later run could take for finished.
"""

import json
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from realformer_nmt import records
from realformer_nmt.corpora.partial import completed
from realformer_nmt.errors import UserError

Report = dict[str, Any]


class Stages:
    def __init__(self, folder: Path, settings: Mapping[str, Any], end: Path) -> None:
        """`end` is written when all of them are done, and void as soon as one is done afresh."""
        self.folder, self.end = folder, end
        self.reports: dict[str, Report] = {}
        self._demand_same(json.loads(json.dumps(settings)))

    def _demand_same(self, settings: Report) -> None:
        path = self.folder / "stages" / "settings.json"
        if not path.exists():
            write_json(path, settings)
        before = records.read(path, f"remove {path.parent} to make all again")
        other = sorted(key for key in {*before, *settings} if before.get(key) != settings.get(key))
        if other:
            told = "; ".join(f"{key} {before.get(key)}, now {settings.get(key)}" for key in other)
            raise UserError(f"{self.folder} was begun with other settings: {told}. Give another --folder or remove it")

    def run(self, name: str, work: Callable[[Path], Report], lasting: bool = False) -> Report:
        """What `work` reported when it filled FOLDER/name, now or earlier; a lasting result must still be there."""
        stamp, result = self.folder / "stages" / f"{name}.json", self.folder / name
        if lasting and stamp.exists() and not result.exists():
            raise UserError(f"{result} was made but is gone: to make all again, remove {stamp.parent}")
        if not stamp.exists():
            for leftover in (*self.folder.glob(f"{name}.partial-*"), result):
                shutil.rmtree(leftover, ignore_errors=True)
            self.end.unlink(missing_ok=True)
            partial = self.folder / f"{name}.partial-{uuid.uuid4().hex}"
            partial.mkdir()
            start = time.monotonic()
            report = work(partial)
            partial.replace(result)
            write_json(stamp, {**report, "seconds": round(time.monotonic() - start, 1)})
            print(f"{name}: done in {time.monotonic() - start:.0f} s", file=sys.stderr)
        self.reports[name] = records.read(stamp, "remove it to make it again")
        return self.reports[name]

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)


def write_json(path: Path, content: Report) -> None:
    """The whole file or none."""
    with completed(path) as file:
        file.write(f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode())
