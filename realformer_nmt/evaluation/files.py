"""Files that are there whole or not at all, and lines that only a line feed ends."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from realformer_nmt.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its name only once all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with replacing(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def read_lines(path: Path) -> list[str]:
    """Split at line feeds only: \\r, U+2028 and their like stay within a line, as `wc -l` counts."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}: not UTF-8; convert the file, for instance with iconv") from error
    return text.removesuffix("\n").split("\n") if text else []


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _sha256(file)


def _sha256(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
