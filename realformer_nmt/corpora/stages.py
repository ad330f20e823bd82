"""Stages of a long preparation: each writes a folder and a report, and is skipped where both exist.

A stage works in a folder of a unique name, which is renamed when it is complete: a process that was killed, or a child
that outlived it, leaves nothing that a later run could take for finished.
"""

import json
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from realformer_nmt.common import checksummed_json, provenance, records
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.provenance import fingerprint
from realformer_nmt.common.records import Fingerprint, Origin
from realformer_nmt.data_bins import prepare_record

Report = dict[str, Any]


class InputFile(Fingerprint, frozen=True, kw_only=True):
    """Fingerprint of an input, with its path."""

    path: str


class PreparationOrigin(Struct, frozen=True, kw_only=True):
    """Settings and inputs of a preparation."""

    settings: dict[str, object]
    inputs: dict[str, InputFile]


class Stages:
    def __init__(self, folder: Path, settings: Mapping[str, Any], inputs: Mapping[str, Path], end: Path) -> None:
        """Check that settings and inputs are those of the earlier run, if there was one.

        `inputs` are by the names that messages use. `end` is the file that is written when all stages are done; a
        stage that runs removes it."""
        self.folder, self.end = folder, end
        self.hint = f"remove {folder / 'stages'} to make all again"
        self.reports: dict[str, Report] = {}
        self.inputs = self._check_same(json.loads(json.dumps(settings)), inputs)

    def _check_same(self, settings: dict[str, object], inputs: Mapping[str, Path]) -> dict[str, InputFile]:
        """Return the fingerprints of the inputs; contents decide, so that a file may be touched or moved."""
        path = self.folder / "stages" / "settings.json"
        before = records.read(path, PreparationOrigin, self.hint) if path.exists() else None
        previous = before.inputs if before else {}
        now = PreparationOrigin(
            settings=settings, inputs={name: look_at(inputs[name], previous.get(name)) for name in inputs}
        )
        changes = list(differences(before, now)) if before else []
        if changes:
            message = f"{self.folder} was begun with other settings or files: {'; '.join(changes)}"
            raise UserError(f"{message}. Give another --folder or remove it")
        if now != before:
            records.write(path, now)
        return now.inputs

    def run(self, name: str, work: Callable[[Path], Report], lasting: bool = False) -> Report:
        """Let `work` fill FOLDER/name unless it did so earlier, and return its report.

        The folder of a lasting stage must still exist."""
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
            checksummed_json.write(stamp, {**report, "seconds": round(time.monotonic() - start, 1)})
            print(f"{name}: done in {time.monotonic() - start:.0f} s", file=sys.stderr)
        self.reports[name] = checksummed_json.read(stamp, self.hint)
        return self.reports[name]

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)


def look_at(path: Path, previous: InputFile | None) -> InputFile:
    """Return the path and fingerprint of an input; it is read again if its path, size or time has changed."""
    place = str(path.absolute())
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UserError(f"{path} is a pipe or a device, which can be read only once: give a file")
        state = fingerprint(path, previous if previous and previous.path == place else None)
        return InputFile(path=place, sha256=state.sha256, bytes=state.bytes, modified=state.modified)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error


def differences(before: PreparationOrigin, now: PreparationOrigin) -> Iterator[str]:
    """Yield a phrase for each setting and each input that has changed."""
    yield from provenance.differences(Origin(settings=before.settings), Origin(settings=now.settings))
    for name in {**before.inputs, **now.inputs}:
        old, new = before.inputs.get(name), now.inputs.get(name)
        if old and new and old.sha256 == new.sha256:
            continue
        old_path, new_path = old.path if old else "nothing", new.path if new else "nothing"
        if old_path == new_path:
            yield f"{name} {new_path} has changed"
        else:
            yield f"{name} was {old_path}, and {new_path} is another file"


def hash_result(folder: Path, name: str) -> Report:
    """Return sizes and hashes of the files of a stage, by their paths after the folder is renamed to `name`."""
    described = prepare_record.describe(folder, sorted(folder.iterdir()))
    return {kind: {f"{name}/{file}": value for file, value in files.items()} for kind, files in described.items()}


def write_json(path: Path, content: Report) -> None:
    """Write JSON atomically: the whole file or none."""
    with completed(path) as file:
        file.write(f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode())
