"""Records of results as classes, which are read and checked when a file is read."""

import sys
from pathlib import Path
from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, convert, to_builtins

from realformer_nmt.common.files import json_records

Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Positive = Annotated[int, Meta(gt=0)]
Text = Annotated[str, Meta(pattern=r"^[^\ud800-\udfff]*\Z")]  # that UTF-8 can encode


class Fingerprint(Struct, frozen=True, kw_only=True):
    """Hash of a file, with the size and the modification time that it had."""

    sha256: str
    bytes: int = 0
    modified: int = 0
    path: str | UnsetType = UNSET  # absolute of a step's input, else from the folder of the record


class Origin(Struct, frozen=True, kw_only=True):
    """Settings, input files and versions of the packages that a result was made from."""

    settings: dict[str, object] = {}
    inputs: dict[str, Fingerprint] = {}  # by the names that messages use
    versions: dict[str, str] = {}


class StageRecord(Struct, frozen=True, kw_only=True):
    """Base of the records that a stage writes; the fields here are written after those of the classes derived."""

    made_from: Origin = Origin()
    written_by: str | UnsetType = UNSET  # the command; version 0.3.0 and older did not record it
    outputs: dict[str, Fingerprint] = {}  # by their paths from the folder of the record
    complete: bool | UnsetType = UNSET  # set where a stage writes its record before it is done


class StepRecord(Struct, frozen=True, kw_only=True):
    """Base of the records of a stage's steps; the field here is written after those of the classes derived."""

    seconds: float = 0


SomeRecord = TypeVar("SomeRecord", bound=Struct)
Value = TypeVar("Value")


def read(path: Path, kind: type[SomeRecord], hint: str, sealed: bool = True) -> SomeRecord:
    """Read a record; `hint` ends each error, and a record without a checksum is refused where `sealed` is true."""
    content = json_records.read(path, hint, sealed=sealed)
    with json_records.expected(path, hint):
        return convert(content, kind)


def none_if_unset(value: Value | UnsetType) -> Value | None:
    """Return the value of a field, and None for one that was not recorded."""
    return None if isinstance(value, UnsetType) else value


def write(path: Path, record: Struct) -> None:
    """Write a record with its checksum, atomically."""
    content = to_builtins(record, enc_hook=plain)
    bases = [base for base in (StageRecord, StepRecord) if isinstance(record, base)]
    names = [name for base in bases for name in base.__struct_fields__ if name in content]
    last = {name: content.pop(name) for name in names}
    json_records.write_sealed(path, {**content, **last})


def plain(number: object) -> float:
    """Return a float of numpy, such as the mean of an array, as a float of Python."""
    if isinstance(number, float):
        return float(number)
    raise NotImplementedError(f"{type(number).__name__} has no form in JSON")
