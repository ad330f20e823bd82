"""Extraction of named members of a tar, tgz or zip: each is written once and renamed when it is complete."""

import difflib
import functools
import json
import stat
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.files.atomic_files import CHUNK, completed
from realformer_nmt.common.stages import outputs
from realformer_nmt.corpora.progress import progress

NOTE = ".extracted.json"


class Entry(NamedTuple):
    """A member, as its archive describes it."""

    name: str
    size: int
    plain: bool  # a file: no link, device or folder
    open: Callable[[], IO[bytes] | None]


def extract(
    archive: Path, members: Sequence[str], folder: Path, *, name: str = "", quiet: bool = False
) -> dict[str, Path]:
    """Return the path FOLDER/MEMBER of each member, extracted if need be; the file's own name is its default `name`.

    A file that is no archive is its own single member, of this name, and stays where it is. Members get
    their names when they are complete."""
    name = name or archive.name
    entries_of = next((entries for suffix, entries in ENTRIES.items() if name.endswith(suffix)), None)
    if entries_of is None:
        _check_none(archive, set(members) - {name}, [name])
        return {name: archive}
    paths = {member: folder / safe_names.inside(member) for member in members}
    _claim(archive, folder / NOTE, paths.values())
    missing = {member for member, path in paths.items() if not path.is_file()}
    names = []
    try:
        for entry in entries_of(archive) if missing else ():
            names.append(entry.name)
            if entry.size < 0:  # tarfile before Python 3.11.14 would read it for ever
                raise UserError(f"{archive}: {entry.name} has a size below 0: take a sound archive")
            if entry.name in missing:
                _write(archive, entry, paths[entry.name], quiet)
                missing.remove(entry.name)
            if not missing:
                break
    except UserError:
        raise
    except Exception as error:  # tarfile, zipfile and the decompressors raise a dozen kinds for damaged bytes
        raise UserError(f"{archive}: damaged or cut short ({error}); remove it and fetch it again") from error
    _check_none(archive, missing, names)
    return paths


def _claim(archive: Path, note: Path, paths: Collection[Path]) -> None:
    """Note whose members a folder holds: an archive's name, size and time.

    Those of another archive are removed, and files of the user's refused."""
    status = archive.stat()
    source = {"archive": [archive.name, status.st_size, status.st_mtime_ns]}
    content = f"{json.dumps(source, indent=2, ensure_ascii=False)}\n".encode()
    if not note.is_file():
        for path in paths:
            outputs.check_free(path, "fetch")
    elif note.read_bytes() == content:
        return
    for path in paths:
        path.unlink(missing_ok=True)
    with completed(note) as file:
        file.write(content)


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


def _write(archive: Path, entry: Entry, path: Path, quiet: bool) -> None:
    source = entry.open() if entry.plain else None
    if source is None:
        raise UserError(f"{archive}: {entry.name} is a link, a folder or a device; only files are extracted")
    with source, completed(path, entry.size) as out, progress(path.name, entry.size, quiet=quiet) as bar:
        while chunk := source.read(CHUNK):
            out.write(chunk)
            bar.update(len(chunk))


def _check_none(archive: Path, missing: Collection[str], names: Sequence[str]) -> None:
    for member in sorted(missing):
        near = difflib.get_close_matches(member, names, n=3) or names[:3]
        raise UserError(f"{archive}: has no member {member}; near it are {', '.join(near) or 'none: it is empty'}")
