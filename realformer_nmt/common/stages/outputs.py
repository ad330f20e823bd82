"""Protection of files: a command overwrites only files that the same command has written.

A record says in `written_by` which command wrote it, and in `outputs` which files beside it. Until the record exists,
the note `.NAME.begun` says both, so that a run that was killed can continue.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, convert

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import writing
from realformer_nmt.common.files.json_records import UNLIKE


class WrittenFiles(Struct, frozen=True, kw_only=True):
    """The part of a record that says which files are a command's; it is the whole of the note."""

    written_by: str
    outputs: dict[str, object] | list[str] = []


def writer(command: str) -> str:
    """Return the name of a command as its records hold it."""
    return f"realformer-nmt {command}"


def check_free(path: Path, command: str) -> None:
    """Refuse a path that exists, unless it is an empty file."""
    is_empty = path.is_file() and not path.is_symlink() and not path.stat().st_size
    if os.path.lexists(path) and not is_empty:
        raise UserError(
            f"{path} exists, and nothing says that `{writer(command)}` wrote it: name another output, or remove it"
        )


def check_folder(path: Path) -> None:
    """Refuse a path that is not a folder and cannot become one."""
    for each in (path, *path.parents):
        if os.path.lexists(each) and not each.is_dir():
            raise UserError(f"{each} is not a folder: name another one, or remove it")


def check_record(path: Path, command: str) -> None:
    """Refuse a path that exists and is not a record of the command."""
    if not is_record(path, command):
        check_free(path, command)


def check_product(path: Path, record: Path, command: str) -> None:
    """Refuse a path that exists, unless the record or its note lists it as the command's."""
    if _name(path, record) not in _names(record, command):
        check_free(path, command)


def is_record(path: Path, command: str) -> bool:
    """Tell whether a file says that the command wrote it."""
    return _written_files(path, command) is not None


@contextlib.contextmanager
def claimed(record: Path, command: str, *paths: Path) -> Iterator[None]:
    """Note outputs as the command's before the block writes them, and remove the record of the previous ones."""
    for path in paths:
        check_product(path, record, command)
    note(record, command, *paths)
    if is_record(record, command):
        with writing(record):
            record.unlink()
    try:
        yield
    except BaseException:
        if not any(os.path.lexists(record.parent / name) for name in _names(record, command)):
            settle(record)
        raise


def note(record: Path, command: str, *paths: Path) -> None:
    """Note files as the command's, beside those that its record lists."""
    names = _names(record, command).union(_name(path, record) for path in paths)
    records.write(_note_file(record), WrittenFiles(written_by=writer(command), outputs=sorted(names)))


def settle(record: Path) -> None:
    """Remove the note: the record lists the outputs now."""
    with writing(record):
        _note_file(record).unlink(missing_ok=True)


def _name(path: Path, record: Path) -> str:
    return str(path.relative_to(record.parent))


def _names(record: Path, command: str) -> set[str]:
    """Return the names of the command's files beside the record, by the record and its note."""
    files = [_written_files(file, command) for file in (record, _note_file(record))]
    return {name for file in files if file for name in file.outputs}


def _written_files(file: Path, command: str) -> WrittenFiles | None:
    """Return what a file says of a command's files; None if it does not say that the command wrote it.

    Only the first byte is read of a file that is no JSON, such as a checkpoint."""
    if not file.is_file():
        return None
    try:
        with file.open("rb") as stream:
            files = convert(json.load(stream) if stream.peek(1)[:1] == b"{" else {}, WrittenFiles)
    except UNLIKE:
        return None
    return files if files.written_by == writer(command) else None


def _note_file(record: Path) -> Path:
    return record.with_name(f".{record.name}.begun")
