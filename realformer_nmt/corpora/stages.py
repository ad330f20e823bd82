"""Stages of a long preparation: each leaves a folder and a report, is skipped once they are there, else done afresh.

A stage works in a folder of a name of its own, renamed when all of it is written: a process that was killed, or a
child that outlived it, leaves nothing that a later run could take for finished.
"""

import json
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from realformer_nmt.common import json_records, provenance, sealed
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.provenance import fingerprint
from realformer_nmt.data_bins import note

Report = dict[str, Any]


class Stages:
    def __init__(self, folder: Path, settings: Mapping[str, Any], inputs: Mapping[str, Path], end: Path) -> None:
        """`inputs` by the names that a message calls them; `end` is written when all stages are done, and void as soon
        as one is done afresh."""
        self.folder, self.end = folder, end
        self.hint = f"remove {folder / 'stages'} to make all again"
        self.reports: dict[str, Report] = {}
        self.inputs = self._demand_same(json.loads(json.dumps(settings)), inputs)

    def _demand_same(self, settings: Report, inputs: Mapping[str, Path]) -> Report:
        """Contents decide: a file that was touched or copied elsewhere is the file that it was."""
        path = self.folder / "stages" / "settings.json"
        before = sealed.read(path, self.hint, {"settings": dict, "inputs": dict}) if path.exists() else {}
        known = before.get("inputs", {})
        with json_records.expected(path, self.hint):
            now = {"settings": settings, "inputs": {name: look_at(inputs[name], known.get(name)) for name in inputs}}
            other = list(differences(before, now)) if before else []
        if other:
            told = f"{self.folder} was begun with other settings or files: {'; '.join(other)}"
            raise UserError(f"{told}. Give another --folder or remove it")
        if now != before:
            sealed.write(path, now)
        return now["inputs"]

    def run(self, name: str, work: Callable[[Path], Report], lasting: bool = False) -> Report:
        """What `work` reported when it filled FOLDER/name, now or earlier; a lasting result must still be there."""
        stamp, result = self.folder / "stages" / f"{name}.json", self.folder / name
        if lasting and stamp.exists() and not result.exists():
            raise UserError(f"{result} was made but is gone: {self.hint}")
        if not stamp.exists():
            for leftover in (*self.folder.glob(f"{name}.partial-*"), result):
                shutil.rmtree(leftover, ignore_errors=True)
            self.end.unlink(missing_ok=True)
            partial = self.folder / f"{name}.partial-{uuid.uuid4().hex}"
            partial.mkdir()
            start = time.monotonic()
            report = {**work(partial), **(hash_result(partial, name) if lasting else {})}
            partial.replace(result)
            sealed.write(stamp, {**report, "seconds": round(time.monotonic() - start, 1)})
            print(f"{name}: done in {time.monotonic() - start:.0f} s", file=sys.stderr)
        self.reports[name] = sealed.read(stamp, self.hint)
        return self.reports[name]

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)


def look_at(path: Path, known: Mapping[str, Any] | None) -> Report:
    """Of an input, as it is now; it is read again where its place, size or time are others."""
    where = {"path": str(path.absolute())}
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UserError(f"{path} is a pipe or a device, which can be read only once: give a file")
        return {**where, **fingerprint(path, known if known and known["path"] == where["path"] else None)}
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error


def differences(before: Report, now: Report) -> Iterator[str]:
    settings = [{"settings": made["settings"], "inputs": {}} for made in (before, now)]
    yield from provenance.differences(*settings)
    for name in {**before["inputs"], **now["inputs"]}:
        was, is_now = (made["inputs"].get(name, {}) for made in (before, now))
        if was.get("sha256") != is_now.get("sha256"):
            places = [file.get("path", "nothing") for file in (was, is_now)]
            moved = f"was {places[0]}, and {places[1]} is another file"
            yield f"{name} {places[1]} has changed" if places[0] == places[1] else f"{name} {moved}"


def hash_result(folder: Path, name: str) -> Report:
    """Sizes and hashes of what a stage has just made, by the names that the files will have."""
    described = note.describe(folder, sorted(folder.iterdir()))
    return {kind: {f"{name}/{file}": value for file, value in files.items()} for kind, files in described.items()}


def write_json(path: Path, content: Report) -> None:
    """The whole file or none."""
    with completed(path) as file:
        file.write(f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode())
