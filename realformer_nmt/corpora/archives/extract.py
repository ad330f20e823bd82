"""Extraction of named members of a tar, tgz or zip: each is written once and renamed when it is complete."""

import difflib
import functools
import stat
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct, to_builtins

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records, safe_names
from realformer_nmt.common.files.atomic_files import CHUNK, completed
from realformer_nmt.common.files.json_records import write_json
from realformer_nmt.common.stages import outputs
from realformer_nmt.corpora.progress import progress

LARGEST = 32 << 30  # bytes of one member: ten times the largest text of WMT'14
STATE = ".extracted.json"


class Entry(NamedTuple):
    """A member, as its archive describes it."""

    name: str
    size: int
    plain: bool  # a file: no link, device or folder
    open: Callable[[], IO[bytes] | None]


def extract(
    archive: Path, members: Sequence[str], folder: Path, *, name: str = "", largest: int = LARGEST, quiet: bool = False
) -> dict[str, Path]:
    """Return the path FOLDER/MEMBER of each member, extracted if need be; the file's own name is its default `name`.

    A file that is no archive is its own single member, of this name, and stays where it is."""
    name = name or archive.name
    entries_of = next((entries for suffix, entries in ENTRIES.items() if name.endswith(suffix)), None)
    if entries_of is None:
        _check_none(archive, set(members) - {name}, [name])
        return {name: archive}
    paths = {member: folder / _safe(archive, member) for member in members}
    state = State(archive, folder)
    missing = {member for member, path in paths.items() if not state.holds(member, path)}
    state.check_free([paths[member] for member in sorted(missing)])
    names = []
    try:
        for entry in entries_of(archive) if missing else ():
            names.append(entry.name)
            _check_size(archive, entry, largest)
            if entry.name in missing:
                _write(archive, entry, paths[entry.name], state, quiet)
                missing.remove(entry.name)
            if not missing:
                break
    except UserError:
        raise
    except Exception as error:  # tarfile, zipfile and the decompressors raise a dozen kinds for damaged bytes
        raise UserError(f"{archive}: damaged or cut short ({error}); remove it and fetch it again") from error
    _check_none(archive, missing, names)
    return paths


class ExtractedMembers(Struct, frozen=True):
    """Sizes of the members that have been extracted, and name, size and time of their archive."""

    archive: tuple[str, int, int]
    sizes: dict[str, int]


class State:
    """Record of the complete members of one archive, in a file beside them; members of another are extracted again."""

    def __init__(self, archive: Path, folder: Path) -> None:
        status = archive.stat()
        self._file = folder / STATE
        self._members = ExtractedMembers(archive=(archive.name, status.st_size, status.st_mtime_ns), sizes={})
        if self._file.is_file():
            before = records.read(self._file, ExtractedMembers, "remove it to extract all again", sealed=False)
            if before.archive == self._members.archive:
                self._members = before

    def holds(self, member: str, path: Path) -> bool:
        return path.is_file() and path.stat().st_size == self._members.sizes.get(member)

    def check_free(self, paths: Collection[Path]) -> None:
        """Raise if a path exists although there is no record yet: the file is the user's."""
        if not self._file.is_file():
            for path in paths:
                outputs.check_free(path, "fetch")

    def write(self) -> None:
        write_json(self._file, to_builtins(self._members))

    def add(self, member: str, size: int) -> None:
        self._members.sizes[member] = size
        self.write()


def _tar_entries(archive: Path) -> Iterator[Entry]:
    with tarfile.open(archive) as pack:
        for info in pack:
            plain = info.isreg() and not info.issparse()
            yield Entry(info.name.removeprefix("./"), info.size, plain, functools.partial(pack.extractfile, info))


def _zip_entries(archive: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(archive) as pack:
        for info in pack.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)  # 0 if the zip was not written on Unix
            plain = kind in (0, stat.S_IFREG) and not info.is_dir()
            yield Entry(info.filename.removeprefix("./"), info.file_size, plain, functools.partial(pack.open, info))


ENTRIES = {".tar": _tar_entries, ".tgz": _tar_entries, ".tar.gz": _tar_entries, ".zip": _zip_entries}


def _safe(archive: Path, member: str) -> str:
    try:
        return safe_names.inside(member)
    except ValueError as error:
        raise UserError(f"{archive}: {error}") from error


def _check_size(archive: Path, entry: Entry, largest: int) -> None:
    """Check even a member that is not extracted: to pass it, a compressed one is read."""
    if not 0 <= entry.size <= largest:
        raise UserError(f"{archive}: {entry.name} has {entry.size:,} bytes, more than the {largest:,} that are allowed")


def _write(archive: Path, entry: Entry, path: Path, state: State, quiet: bool) -> None:
    source = entry.open() if entry.plain else None
    if source is None:
        raise UserError(f"{archive}: {entry.name} is a link, a folder or a device; only files are extracted")
    state.write()  # before the member, so that a killed run has a record
    with source, completed(path, entry.size) as out, progress(path.name, entry.size, quiet=quiet) as bar:
        while chunk := source.read(CHUNK):
            out.write(chunk)
            bar.update(len(chunk))
    state.add(entry.name, entry.size)


def _check_none(archive: Path, missing: Collection[str], names: Sequence[str]) -> None:
    for member in sorted(missing):
        near = difflib.get_close_matches(member, names, n=3) or names[:3]
        raise UserError(f"{archive}: has no member {member}; near it are {', '.join(near) or 'none: it is empty'}")
