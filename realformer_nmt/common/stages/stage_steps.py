"""A stage of several steps: each fills a folder, and is skipped where its record says that it did.

All steps are made from the same settings and inputs, which the stage's own record holds from the first step on. A step
works in a folder of a unique name, which is renamed when it is complete: a process that was killed, or a child that
outlived it, leaves nothing that a later run could take for finished.
"""

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed_folder, writing
from realformer_nmt.common.files.records import Origin, StageRecord, StepRecord
from realformer_nmt.common.stages.stage import Stage

SomeStep = TypeVar("SomeStep", bound=StepRecord)
RECORDS = "stages"  # folder of the records, in the folder that the steps fill


def begun_record(folder: Path) -> Path:
    return folder / RECORDS / "settings.json"


@dataclass(frozen=True, kw_only=True)
class SteppedStage(Stage):
    """A stage of several steps; `inputs` are by the names that messages use."""

    end: Path  # the file that is written when all steps are done; a step that runs removes it

    @property
    def folder(self) -> Path:
        return self.record.parents[1]

    @property
    def hint(self) -> str:
        return f"remove {self.record.parent} to make all again"

    def start(self) -> Origin:
        """Return the origin of all steps; refuse a folder where a step is done with other settings or files."""
        for path in self.inputs.values():
            with writing(path), path.open("rb") as file:  # which names an input that cannot be read
                file.read(1)
        has_done_step = any(file != self.record for file in self.record.parent.glob("*.json"))
        status = self.status()
        if has_done_step or status.record is None:  # another program's settings.json has no record
            self._check_differences(status)
        before = status.record if has_done_step else None
        origin = replace(self.origin(before), versions={})  # each record of a step could have others
        if before is None or origin != before.made_from:
            records.write(self.record, origin)
        return origin

    def read(self) -> StageRecord:
        return StageRecord(made_from=records.read(self.record, Origin, self.hint))

    def differences(self, before: StageRecord) -> list[str]:
        """Return a message for each setting and each input that has changed, is new or is not named any more."""
        missing = [name for name in before.made_from.inputs if name not in self.inputs]
        return [*super().differences(before), *(f"{name} is missing" for name in missing)]

    def _place(self, path: Path) -> str:
        return str(path.absolute())

    def refusal(self, differences: str) -> str:
        begun = f"{self.folder} was begun with other settings or files: {differences}"
        return f"{begun}. Give another --folder or remove it"

    def step(
        self,
        name: str,
        kind: type[SomeStep],
        work: Callable[[Path], SomeStep],
        lasting: bool = False,
        reads: Origin | None = None,
    ) -> SomeStep:
        """Let `work` fill FOLDER/name unless it did so earlier, and return its record.

        The folder of a lasting step must still exist. A step that `reads` the inputs is refused if one has changed."""
        record, result = self.record.with_name(f"{name}.json"), self.folder / name
        if lasting and record.exists() and not result.exists():
            raise UserError(f"{result} was made but no longer exists: {self.hint}")
        if not record.exists():
            self.end.unlink(missing_ok=True)
            shutil.rmtree(result, ignore_errors=True)
            start = time.monotonic()
            with completed_folder(result) as part:
                step = work(part)
                if reads:
                    self._check_inputs(reads.inputs)
            seconds = time.monotonic() - start
            records.write(record, replace(step, seconds=round(seconds, 1)))
            print(f"{name}: done in {seconds:.0f} s", file=sys.stderr)
        return records.read(record, kind, self.hint)

    def remove(self, files: Iterable[str]) -> None:
        """Remove files that the steps wrote, and their folders if nothing else is there, until all steps are done."""
        if self.end.exists():
            return
        paths = [Path(file) for file in files]
        for path in paths:
            (self.folder / path).unlink(missing_ok=True)
        for folder in sorted({folder for path in paths for folder in path.parents[:-1]}, reverse=True):
            with contextlib.suppress(OSError):
                (self.folder / folder).rmdir()
