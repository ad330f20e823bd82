"""Reading and writing of text whose lines end with a line feed only, and hashes of files."""

import functools
import gzip
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed, digest

MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with completed(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, split at line feeds only, as `wc -l` counts: \\r and U+2028 stay in a line."""
    content = read_bytes(path)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}: not UTF-8; convert the file, for instance with iconv") from error
    return text.removesuffix("\n").split("\n") if text else []


def without_mark(lines: Sequence[str]) -> list[str]:
    """Return the lines without the byte order mark that some other programs write first."""
    return [line.removeprefix(MARK) if number == 0 else line for number, line in enumerate(lines)]


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, decompressed if its name ends with .gz."""
    if path.is_dir():
        raise UserError(f"{path} is a folder: name a file in it")
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(
            f"{path}: incomplete or damaged gzip file ({error}); take it from a complete download"
        ) from error


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return digest(file, "sha256").hexdigest()


@functools.lru_cache(maxsize=256)
def sha256_once(path: Path, _size: int, _modified: int) -> str:
    """Return the hash of a file, computed once per process as long as its size and time stay."""
    return sha256(path)


def read_recorded(path: Path, recorded: str, record: Path) -> list[str]:
    """Return the lines of a file; refuse it if its hash is not the one in the record."""
    if not path.is_file() or sha256(path) != recorded:
        raise UserError(
            f"{path} is missing or has changed since {record} was written: make {record.name} again, with --fresh"
        )
    return read_lines(path)
