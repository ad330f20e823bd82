"""Text whose lines only a line feed ends, and hashes of files."""

from collections.abc import Iterable
from pathlib import Path

from realformer_nmt.corpora.partial import completed, digest
from realformer_nmt.errors import UserError


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with completed(path) as file:
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
        return digest(file, "sha256").hexdigest()
