"""Checks of the files of a data-bin by prepare.json, the record beside it, which has the size and hash of each."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import text_lines

if TYPE_CHECKING:
    from realformer_nmt.data_bins.prepared_files import PreparedFiles

NAME = "prepare.json"
WRITER = "`realformer-nmt prepare` writes it when it is done"
AGAIN = "put it back as it was, or remove the folder `stages` beside prepare.json and prepare all again"


class RecordedSize(NamedTuple):
    bytes: int
    sha256: str


def read_files(note: Path) -> dict[str, RecordedSize]:
    from realformer_nmt.common.files import records  # here: fairseq-train, which imports this, starts without msgspec
    from realformer_nmt.data_bins.prepared_files import PreparedFiles

    files = records.read(note, PreparedFiles, WRITER, sealed=False)
    return {name: RecordedSize(files.bytes[name], sha) for name, sha in files.sha256.items()}


def describe(folder: Path, files: Iterable[Path], within: str = "") -> "PreparedFiles":
    """Return sizes and hashes of files, by their paths from the folder, or from one that holds it as `within`."""
    from realformer_nmt.data_bins.prepared_files import PreparedFiles  # here, too

    sizes, hashes = {}, {}
    for file in files:
        name, status = str(Path(within, file.relative_to(folder))), file.stat()
        sizes[name] = status.st_size
        hashes[name] = text_lines.sha256_once(file, status.st_size, status.st_mtime_ns)
    return PreparedFiles(bytes=sizes, sha256=hashes)


def check_prepared(file: Path) -> None:
    """Raise if a file is not as it was prepared; files of a folder that no record lists are accepted."""
    folder = file.parent.resolve()
    note = folder.parent / NAME
    files = read_files(note) if note.is_file() else {}
    if not any(name.startswith(f"{folder.name}/") for name in files):
        return
    noted = files.get(f"{folder.name}/{file.name}")
    if noted is None and file.exists():
        raise UserError(f"{file} was not prepared with the rest, says {note}: binarise it into a folder of its own")
    if noted and (message := difference(file, noted)):
        raise UserError(f"{message}, says {note}; {AGAIN}")


def verify(folder: Path, by_hash: bool = True) -> int:
    """Raise unless the prepared files, and no others, are there as they were prepared; return their number."""
    note = folder / NAME
    files = read_files(note)
    differences = [difference(folder / name, noted, by_hash) for name, noted in files.items()]
    messages = [message for message in differences if message]
    if messages:
        raise UserError(f"{'; '.join(messages)}, says {note}; {AGAIN}")
    for inner in sorted({(folder / name).parent for name in files} - {folder}):
        for file in sorted(inner.iterdir()):
            if f"{inner.name}/{file.name}" not in files:
                raise UserError(f"{file} was not prepared with the rest, says {note}: move it to a folder of its own")
    return len(files)


def difference(file: Path, noted: RecordedSize, by_hash: bool = True) -> str | None:
    """Return how a file differs from its record, or None; its size is compared before its hash."""
    if not file.is_file():
        return f"{file} is gone"
    status = file.stat()
    if status.st_size != noted.bytes:
        return f"{file} has {status.st_size:,} bytes, and had {noted.bytes:,}"
    same = not by_hash or text_lines.sha256_once(file, status.st_size, status.st_mtime_ns) == noted.sha256
    return None if same else f"{file} has changed"
