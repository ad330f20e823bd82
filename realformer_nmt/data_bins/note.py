"""prepare.json, which lies beside a data-bin: what each file was, by size and hash, when it was prepared."""

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.common import json_records
from realformer_nmt.common.atomic_files import digest
from realformer_nmt.common.errors import UserError

NAME = "prepare.json"
WRITER = "`realformer-nmt prepare` writes it when it is done"
AGAIN = "put it back as it was, or remove the folder `stages` beside prepare.json and prepare all again"
FILE = re.compile(r"(?!\.)[\w.-]+(/(?!\.)[\w.-]+)?", re.ASCII)  # within the folder of the note
HASH = re.compile("[0-9a-f]{64}")


class Noted(NamedTuple):
    bytes: int
    sha256: str


def demand_prepared(file: Path) -> None:
    """A folder that no note beside it speaks of, such as fairseq-preprocess's, is taken as it is."""
    folder = file.parent.resolve()
    note = folder.parent / NAME
    files = read(note) if note.is_file() else {}
    if not any(name.startswith(f"{folder.name}/") for name in files):
        return
    noted = files.get(f"{folder.name}/{file.name}")
    if noted is None and file.exists():
        raise UserError(f"{file} was not prepared with the rest, says {note}: binarise it into a folder of its own")
    if noted and (told := difference(file, noted)):
        raise UserError(f"{told}, says {note}; {AGAIN}")


def verify(folder: Path, by_hash: bool = True) -> int:
    """How many files are as they were prepared; those that are not, or were not, are an error."""
    note = folder / NAME
    files = read(note)
    different = [told for name, noted in files.items() if (told := difference(folder / name, noted, by_hash))]
    if different:
        raise UserError(f"{'; '.join(different)}, says {note}; {AGAIN}")
    for inner in sorted({(folder / name).parent for name in files} - {folder}):
        for file in sorted(inner.iterdir()):
            if f"{inner.name}/{file.name}" not in files:
                raise UserError(f"{file} was not prepared with the rest, says {note}: move it to a folder of its own")
    return len(files)


def difference(file: Path, noted: Noted, by_hash: bool = True) -> str | None:
    """Between a file and what it was, in words; another size tells without reading it."""
    try:
        found = file.stat()
        if not file.is_file():
            return f"{file} is gone"
        if found.st_size != noted.bytes:
            return f"{file} has {found.st_size:,} bytes, and had {noted.bytes:,}"
        same = not by_hash or sha256(file, found.st_size, found.st_mtime_ns) == noted.sha256
        return None if same else f"{file} has changed"
    except FileNotFoundError:
        return f"{file} is gone"
    except OSError as error:
        return f"{file}: {error.strerror}"


@functools.lru_cache(maxsize=256)
def sha256(file: Path, _size: int, _modified: int) -> str:
    """Once in a process, though every epoch of sharded data opens its files again."""
    with file.open("rb") as stream:
        return digest(stream, "sha256").hexdigest()


def describe(folder: Path, files: list[Path]) -> dict[str, dict[str, Any]]:
    """What a note says of files."""
    noted = {str(file.relative_to(folder)): file for file in files}
    sizes = {name: file.stat() for name, file in noted.items()}
    return {
        "bytes": {name: found.st_size for name, found in sizes.items()},
        "sha256": {name: sha256(noted[name], found.st_size, found.st_mtime_ns) for name, found in sizes.items()},
    }


def read(note: Path) -> dict[str, Noted]:
    held = json_records.read(note, WRITER, {"sha256": dict, "bytes": dict})
    hashes, sizes = held["sha256"], held["bytes"]
    for name in {**hashes, **sizes}:
        size, sha = sizes.get(name), hashes.get(name)
        if not FILE.fullmatch(name) or type(size) is not int or not HASH.fullmatch(str(sha)):
            raise UserError(f"{note} is damaged, or of another version: of {name!r} it says {size} bytes, sha256 {sha}")
    return {name: Noted(sizes[name], hashes[name]) for name in hashes}
