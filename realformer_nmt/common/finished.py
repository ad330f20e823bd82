"""A stage that was finished: by its record, from the same as it would be made from now, and with what it made."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.common import json_records, sealed
from realformer_nmt.common import outputs as written
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.outputs import OUTPUTS
from realformer_nmt.common.provenance import MADE_FROM, Record, differences, fingerprint, made_from

AGAIN = "--anew makes it again"
HELP = "make it again, even if it is there"
WANTED = {MADE_FROM: dict, OUTPUTS: dict}


class Standing(NamedTuple):
    """How a stage's record stands to what is asked of the stage."""

    record: Record | None = None
    differences: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()  # outputs

    @property
    def done(self) -> bool:
        complete = self.record is not None and self.record.get("complete", True) is True
        return complete and not self.differences and not self.gone


def outputs(record: Path, content: Record) -> tuple[list[str], tuple[str, ...]]:
    """In words, those that are others than were made; and those that are gone."""
    changed, gone = [], []
    for name, known in content[OUTPUTS].items():
        place = record.parent / name
        if not place.is_file():
            gone.append(name)
        elif fingerprint(place, known)["sha256"] != known["sha256"]:
            changed.append(f"{name} is another file than was made")
    return changed, tuple(gone)


def damage(record: Path) -> list[str]:
    """What is no longer as it was finished, whatever it was made from."""
    try:
        content = sealed.read(record, AGAIN, WANTED)
        with json_records.expected(record, AGAIN):
            changed, gone = outputs(record, content)
    except UserError as error:
        return [str(error)]
    return changed + [f"{name} is gone" for name in gone]


@dataclass(frozen=True)
class Stage:
    """What a command is asked to make, and from what. What it makes lies beside its record, or below."""

    command: str
    record: Path
    settings: Mapping[str, Any]
    inputs: Mapping[str, Path]
    lasting: bool = True  # whether what it made must still be there

    def standing(self) -> Standing:
        if not self.record.is_file():
            return Standing()
        try:
            before = sealed.read(self.record, AGAIN, WANTED)
            with json_records.expected(self.record, AGAIN):
                others = differences(before[MADE_FROM], made_from(self.settings, self.inputs, before[MADE_FROM]))
                return self._compared(before, others)
        except UserError as error:
            return Standing(differences=(str(error),))

    def _compared(self, before: Record, others: list[str]) -> Standing:
        changed, gone = outputs(self.record, before)
        return Standing(before, (*others, *changed), gone if self.lasting else ())

    def finished(self, anew: bool, *outputs: Path) -> bool:
        """Says so if it is; refuses if what is there was made from something else, is what it is made from, or is not
        this command's."""
        for path in (self.record, *outputs):
            if path.exists() and any(other.exists() and path.samefile(other) for other in self.inputs.values()):
                raise UserError(f"{path} is what this is made from, and would be written over: name another --output")
        written.check_folder(self.record.parent, self.command)
        written.check_record(self.record, self.command)
        for path in outputs:
            written.check_product(path, self.record, self.command)
        if anew:
            return False
        found = self.standing()
        if found.differences and found.record is None:
            raise UserError(found.differences[0])
        if found.differences:
            raise UserError(
                f"{self.record} was made with other settings or files: {'; '.join(found.differences)}. Name another "
                "place, or pass --anew to make it again"
            )
        if found.done:
            written.settle(self.record)
            print(f"{self.record}: finished before, from the same settings and files")
        return found.done

    def begin(self) -> Record:
        """What it is made from; a record of before no longer holds."""
        made = self.made(self.standing().record)
        written.void(self.record, self.command)
        return made

    def claimed(self, *outputs: Path) -> AbstractContextManager[None]:
        """Around the writing of outputs, after `begin`."""
        return written.claimed(self.record, self.command, *outputs)

    def made(self, before: Record | None) -> Record:
        """Of an input that is gone, what was known of it."""
        known = (before or {}).get(MADE_FROM, {})
        made = made_from(self.settings, self.inputs, known)
        gone = {name: file for name, file in known.get("inputs", {}).items() if name in self.inputs}
        return {**made, "inputs": {**gone, **made["inputs"]}}

    def write(
        self, made: Record, content: Mapping[str, Any], outputs: Iterable[Path] = (), finished: bool = True
    ) -> None:
        """`made` is what `begin` gave; as long as it is not finished, `content` says so."""
        for name, known in made["inputs"].items() if finished else ():
            path = self.inputs[name]
            if path.is_file() and fingerprint(path, known)["sha256"] != known["sha256"]:
                raise UserError(f"{path} was changed while it was read; run this again")
        files = {str(path.relative_to(self.record.parent)): fingerprint(path) for path in outputs}
        sealed.write(self.record, {**content, MADE_FROM: made, OUTPUTS: files})
        written.settle(self.record)
