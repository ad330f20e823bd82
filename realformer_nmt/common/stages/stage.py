"""Records of finished stages, by which a command sees that its work is already done.

A stage is up to date if its record was made from the same settings and input files as now, and if the files that it
wrote are unchanged.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import Fingerprint, Origin, StageRecord
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages import outputs as written
from realformer_nmt.common.stages.provenance import differences, fingerprint, is_same, made_from

AGAIN = "use --fresh to redo it"
HELP = "make the result again, even if it is up to date"


@dataclass(frozen=True, kw_only=True)
class StageRequest(Request):
    """Base of requests that write a record of what their result was made from, so that they are not repeated."""

    def stage(self) -> "Stage":
        """Return the record to write, with the settings and the files that it is made from."""
        stage: Stage = resolve_name(f"{self.implementation}:stage_of")(self)
        return stage


class StageStatus(NamedTuple):
    """The status of a stage: its record, and what differs from a run with the present settings and files."""

    record: StageRecord | None = None
    differences: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # outputs that no longer exist

    @property
    def done(self) -> bool:
        complete = self.record is not None and self.record.complete is not False
        return complete and not self.differences and not self.missing


def compare_outputs(record: Path, content: StageRecord) -> tuple[list[str], tuple[str, ...]]:
    """Return a message for each output that has changed since it was written, and the names of the missing ones."""
    changed, missing = [], []
    for name, previous in content.outputs.items():
        path = record.parent / name
        if not path.is_file():
            missing.append(name)
        elif not is_same(path, previous):
            changed.append(f"{name} has changed since it was written")
    return changed, tuple(missing)


def damage(record: Path) -> list[str]:
    """Return a message for each output that is changed or missing, or the error if the record cannot be read."""
    try:
        changed, missing = compare_outputs(record, records.read(record, StageRecord, AGAIN))
    except UserError as error:
        return [str(error)]
    return changed + [f"{name} is gone" for name in missing]


@dataclass(frozen=True)
class Stage:
    """The work of one command: its record, settings and input files.

    The outputs lie in the folder of the record or below it.
    """

    command: str
    record: Path
    settings: Mapping[str, object]
    inputs: Mapping[str, Path]
    lasting: bool = True  # whether the outputs must still exist

    def status(self) -> StageStatus:
        """Return the status of the stage; a record that cannot be read is a difference."""
        if not self.record.is_file():
            return StageStatus()
        try:
            before = self.read()
            differing = self.differences(before)
            changed, missing = compare_outputs(self.record, before)
        except UserError as error:
            return StageStatus(differences=(str(error),))
        return StageStatus(before, (*differing, *changed), missing if self.lasting else ())

    def read(self) -> StageRecord:
        """Read what the record says of how it was made."""
        return records.read(self.record, StageRecord, AGAIN)

    def differences(self, before: StageRecord) -> list[str]:
        """Return a message for each setting and each input that is another than the record's."""
        return differences(before.made_from, made_from(self.settings, self.inputs, before.made_from))

    def is_up_to_date(self, fresh: bool, *outputs: Path) -> bool:
        """Return whether the stage is up to date, and print so.

        Raise a UserError if the record or an output would overwrite a file of another command, if the record was made
        from other settings or files, or if an input is missing that it was not made from. With `fresh`, neither the
        status nor these differences count.
        """
        written.check_folder(self.record.parent)
        status = StageStatus() if fresh else self.status()
        if status.record is None or status.differences:  # else it is this command's, whatever version wrote it
            written.check_record(self.record, self.command)
        self._check_differences(status)
        if status.record:
            self._check_missing_inputs(status.record.made_from.inputs)
        if status.done:
            print(f"{self.record}: up to date")
            return True
        for path in outputs:
            written.check_product(path, self.record, self.command)
        return False

    def _check_missing_inputs(self, before: Mapping[str, Fingerprint]) -> None:
        """Refuse an input that is missing, unless the record was made from it: such a file may be removed."""
        for name, path in self.inputs.items():
            previous = before.get(name)
            was_read = previous and previous.path in (UNSET, self._place(path))
            if not was_read and not path.is_file():
                raise UserError(f"{path}: no such file, and {self.record} was not made from it; check the name")

    def _place(self, path: Path) -> str:
        """Return a path from the folder of the record, so that both can be moved together."""
        return os.path.relpath(path.parent.resolve() / path.name, self.record.parent.resolve())

    def _check_differences(self, status: StageStatus) -> None:
        """Refuse a record of other settings or files, and one that cannot be read."""
        if status.differences and status.record is None:
            raise UserError(status.differences[0])
        if status.differences:
            raise UserError(self.refusal("; ".join(status.differences)))

    def refusal(self, differences: str) -> str:
        """Return the message that refuses a record with differences."""
        remedy = "Give another --output or --folder, or use --fresh to redo it"
        return f"{self.record} was made with other settings or files: {differences}. {remedy}"

    def new_origin(self) -> Origin:
        """Return the origin of a new record; the previous one stays until `claimed` or `write`."""
        return self.origin(self.status().record)

    def claimed(self, *outputs: Path) -> AbstractContextManager[None]:
        """Return a context in which to write the outputs, noted as this command's; it removes the previous record."""
        return written.claimed(self.record, self.command, *outputs)

    def origin(self, before: StageRecord | None) -> Origin:
        """Return the origin of a result that is made now.

        An input that no longer exists keeps its fingerprint of the record `before`.
        """
        now = made_from(self.settings, self.inputs, before.made_from if before else None)
        inputs = {name: replace(file, path=self._place(self.inputs[name])) for name, file in now.inputs.items()}
        previous = before.made_from.inputs if before else {}
        earlier = {name: file for name, file in previous.items() if name in self.inputs}
        return replace(now, inputs={**earlier, **inputs})

    def fingerprints(self, *outputs: Path) -> dict[str, Fingerprint]:
        """Return the fingerprints of outputs, as the record holds them."""
        return {str(path.relative_to(self.record.parent)): fingerprint(path) for path in outputs}

    def write(self, record: StageRecord) -> None:
        """Write the record; if the stage is complete, refuse inputs that have changed since its origin."""
        if record.complete is not False:
            self._check_inputs(record.made_from.inputs)
        records.write(self.record, replace(record, written_by=written.writer(self.command)))
        written.settle(self.record)

    def _check_inputs(self, fingerprints: Mapping[str, Fingerprint]) -> None:
        for name, previous in fingerprints.items():
            path = self.inputs[name]
            if path.is_file() and not is_same(path, previous):
                raise UserError(f"{path} was changed while it was read; run this again, or first put it back")
