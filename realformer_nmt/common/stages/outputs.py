"""Protection of files: a command overwrites only files that the same command has written.

A record is recognised by its keys, a damaged one by its beginning; a file beside it by its name in the record. Until
the record exists, `.NAME.begun` lists these files, so that a run that was killed can continue.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import writing
from realformer_nmt.common.files.json_records import UNLIKE

OUTPUTS = "outputs"
BEGINNING = b'{\n  "'  # of a record
KEYS = re.compile(r'^  "(\w+)":', re.MULTILINE)  # of a record, as it is written


class BegunOutputs(Struct, frozen=True, kw_only=True):
    """Note of a command's files beside a record that does not exist yet; None stands for all files there."""

    command: str
    outputs: list[str] | None


class RecordKeys(NamedTuple):
    """Keys of a command's record, and the option for its path."""

    keys: frozenset[str]
    option: str = "--output"


RECORD_KEYS = {  # by command, names of fields of its record; a record belongs to the first command whose keys it has
    "train": RecordKeys(frozenset({"sessions", "protocol"}), "--folder"),
    "score": RecordKeys(frozenset({"scores", "translation"})),
    "score-squad": RecordKeys(frozenset({"questions", "scores", "made_from"})),
    "answer": RecordKeys(frozenset({"questions", "made_from"})),
    "evaluate": RecordKeys(frozenset({"measures", "made_from"})),
    "translate": RecordKeys(frozenset({"files", "decoding", "checkpoints"})),
    "analyse": RecordKeys(frozenset({"models", "figures", "made_from"})),
    "average": RecordKeys(frozenset({"averaged"})),
    "significance": RecordKeys(frozenset({"comparisons", "correction"})),
    "sample": RecordKeys(frozenset({"pairs", "pieces", "sample"}), "--folder"),
    "prepare": RecordKeys(frozenset({"pairs", "pieces"}), "--folder"),
    "fetch": RecordKeys(frozenset({"archive", "sizes"}), "--folder"),
    "compare": RecordKeys(frozenset({"grid", "cells", "rows"}), "--folder"),
}


def check_free(path: Path, command: str) -> None:
    """Refuse a path that exists, unless it is an empty file."""
    if not os.path.lexists(path) or (not path.is_symlink() and path.is_file() and not path.stat().st_size):
        return
    reason = f"exists and was not written by `realformer-nmt {command}`"
    if not path.exists():
        reason = "is a link that leads nowhere"
    elif path.is_dir():
        reason = f"is a folder that was not written by `realformer-nmt {command}`"
    raise UserError(f"{path} {reason}: name another {RECORD_KEYS[command].option}, or remove it")


def check_folder(path: Path, command: str) -> None:
    """Refuse a path that is not a folder and cannot become one."""
    if not path.is_dir():
        check_free(path, command)
    if path.is_file():
        raise UserError(f"{path} is a file: name another {RECORD_KEYS[command].option}, or remove it")


def check_record(path: Path, command: str) -> None:
    """Refuse a path that exists and is not a record of the command."""
    if not is_record(path, command):
        check_free(path, command)


def check_product(path: Path, record: Path, command: str) -> None:
    """Refuse a path that exists, unless the record or the note of a killed run lists it as the command's."""
    names = _names(record, command)
    if names is not None and _name(path, record) not in names:
        check_free(path, command)


def is_record(path: Path, command: str) -> bool:
    """Tell whether a file is a record of the command; a damaged one is recognised by its beginning and keys."""
    if not path.is_file():
        return False
    text = _read(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        writer = _writer(KEYS.findall(text.decode(errors="replace")))
        cut = text.startswith(BEGINNING) or BEGINNING.startswith(text)
        return cut and writer in (None, command)
    return isinstance(content, dict) and _writer(content) == command


def holds_record(path: Path, command: str) -> bool:
    """Tell whether a file is a record of the command that is not empty, and so may list outputs."""
    return is_record(path, command) and path.stat().st_size > 0


def void(record: Path, command: str) -> None:
    """Remove a record that is out of date; its outputs are noted as still the command's."""
    if is_record(record, command):
        names = _names(record, command)
        with writing(record):
            _write_note(record, command, names)
            record.unlink()


@contextlib.contextmanager
def claimed(record: Path, command: str, *paths: Path) -> Iterator[None]:
    """Note outputs as the command's before the block writes them, and remove the record of the previous ones."""
    for path in paths:
        check_product(path, record, command)
    void(record, command)
    before = _begun(record, command)
    note(record, command, *paths)
    try:
        yield
    except BaseException:
        if before == set() and not any(map(os.path.lexists, paths)):
            settle(record)
        raise


def note(record: Path, command: str, *paths: Path) -> None:
    """Note files as the command's, beside those that its record lists."""
    names = _names(record, command)
    _write_note(record, command, None if names is None else {*names, *(_name(path, record) for path in paths)})


def settle(record: Path) -> None:
    """Remove the note of begun outputs: the record lists them now."""
    with writing(record):
        _begun_file(record).unlink(missing_ok=True)


def _read(path: Path) -> bytes:
    """Read a file that begins like a record; read only the first byte of any other, such as a checkpoint."""
    try:
        with path.open("rb") as file:
            first = file.read(1)
            return first + file.read() if first == b"{" else first
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name another place") from error


def _writer(keys: Iterable[str]) -> str | None:
    """Return the command whose record has these keys."""
    present = set(keys)
    return next((command for command, kind in RECORD_KEYS.items() if kind.keys <= present), None)


def _name(path: Path, record: Path) -> str:
    return str(path.relative_to(record.parent))


def _names(record: Path, command: str) -> set[str] | None:
    """Return the names of the command's files beside the record; None stands for all, where the record is damaged."""
    begun = _begun(record, command)
    if begun is None or not holds_record(record, command):
        return begun
    try:
        return begun | set(json.loads(record.read_bytes())[OUTPUTS])
    except UNLIKE:
        return None


def _begun(record: Path, command: str) -> set[str] | None:
    """Return the names in the note of begun outputs; None stands for all."""
    try:
        note = records.read(_begun_file(record), BegunOutputs, "")
    except UserError:
        return set()
    if note.command != command:
        return set()
    return None if note.outputs is None else set(note.outputs)


def _begun_file(record: Path) -> Path:
    return record.with_name(f".{record.name}.begun")


def _write_note(record: Path, command: str, names: set[str] | None) -> None:
    begun = BegunOutputs(command=command, outputs=None if names is None else sorted(names))
    records.write(_begun_file(record), begun)
