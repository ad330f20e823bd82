"""A reader of the texts of corpora, segment by segment, as bytes.

The byte \\n alone ends a line: \\r, U+2028, U+0085, form feeds and the like occur inside segments of the WMT corpora
and would misalign the sides (issue 4590 of tensorflow/datasets). XML entities are not decoded: sacreBLEU's references
keep them too, and its tokeniser 13a handles them.
"""

import codecs
import gzip
import itertools
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.manifest_schema import Format

OPENING = re.compile(rb"<seg\b")
SEGMENT = re.compile(rb"<seg\b[^>]*>(.*?)</seg>")
METADATA = re.compile(rb"\s*</?(?:url|talkid|keywords|speaker|reviewer|translator|doc)\b")
HEADING = re.compile(rb"</?(?:title|description)>")
Invalid = Literal["replace", "refuse"]
Numbered = Iterator[tuple[int, bytes]]  # line of the file, segment without its line end


class Block(NamedTuple):
    """Consecutive pairs; each segment ends with \\n, and all bytes are valid UTF-8."""

    source: bytes
    target: bytes
    pairs: int
    replaced: int  # segments whose invalid bytes became U+FFFD
    reach: int  # bytes of the two files that were read up to the end of this block


def blocks(
    source: Path, target: Path, form: Format = "text", invalid: Invalid = "refuse", size: int = 2000
) -> Iterator[Block]:
    """Yield all pairs in order, `size` per block; raise if the sides differ in length."""
    source_file, target_file = Segments(source, form), Segments(target, form)
    sources, targets = iter(source_file), iter(target_file)
    read = 0
    while True:
        source_lines = list(itertools.islice(sources, size))
        target_lines = list(itertools.islice(targets, size))
        if len(source_lines) != len(target_lines):
            source_count = read + len(source_lines) + sum(1 for _ in sources)
            target_count = read + len(target_lines) + sum(1 for _ in targets)
            raise UserError(
                f"{source} has {source_count} segments, but {target} has {target_count}: lines that are "
                "translations of each other must stand at the same place; take the files from a complete download"
            )
        if not source_lines:
            return
        read += len(source_lines)
        source_bytes, source_replaced = valid(source_lines, source, invalid)
        target_bytes, target_replaced = valid(target_lines, target, invalid)
        yield Block(
            source=source_bytes,
            target=target_bytes,
            pairs=len(source_lines),
            replaced=source_replaced + target_replaced,
            reach=source_file.reach + target_file.reach,
        )


class Segments:
    """The segments of one file, with their line numbers."""

    def __init__(self, path: Path, form: Format) -> None:
        self.path, self.form = path, form
        self.file: BinaryIO | None = None

    def __iter__(self) -> Numbered:
        path, compressed = self.path, self.form == "gzip" or self.path.suffix == ".gz"
        try:
            with path.open("rb") as self.file, gzip.open(self.file) if compressed else self.file as text:
                yield from READERS[self.form](without_mark(text), path)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(
                f"{path}: incomplete or damaged gzip file ({error}); take it from a complete download"
            ) from error

    @property
    def reach(self) -> int:
        """How many bytes of the file have been read."""
        if self.file is None:
            return 0
        return self.path.stat().st_size if self.file.closed else self.file.tell()


def without_mark(text: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a text without its byte order mark."""
    for number, line in enumerate(text):
        yield line if number else line.removeprefix(codecs.BOM_UTF8)


def valid(lines: list[tuple[int, bytes]], path: Path, invalid: Invalid) -> tuple[bytes, int]:
    """Join segments, and return how many of them had invalid UTF-8 replaced."""
    joined = b"".join(segment + b"\n" for _, segment in lines)
    try:
        joined.decode()
    except UnicodeDecodeError:
        wrong = [number for number, segment in lines if segment.decode(errors="ignore").encode() != segment]
    else:
        return joined, 0
    if invalid == "refuse":
        raise UserError(
            f"{path}, line {wrong[0]}: invalid UTF-8; repair the file, or replace such bytes (--invalid-utf8 replace)"
        )
    for number in wrong:
        print(f"{path}, line {number}: invalid UTF-8 replaced", file=sys.stderr)
    return joined.decode(errors="replace").encode(), len(wrong)


def plain(file: Iterable[bytes], _: Path) -> Numbered:
    return enumerate((line.rstrip(b"\n") for line in file), 1)


def sgm(file: Iterable[bytes], path: Path) -> Numbered:
    """Yield segments of lines `<seg id="1">...</seg>`, as sacreBLEU reads WMT's .sgm and IWSLT's .xml."""
    for number, line in enumerate(file, 1):
        segment = SEGMENT.search(line)
        if len(OPENING.findall(line)) > bool(segment):
            raise UserError(
                f"{path}, line {number}: <seg> without its </seg>, or a second <seg>: allowed is one segment a line"
            )
        if segment:
            yield number, collapse(segment[1])


def tags(file: Iterable[bytes], _: Path) -> Numbered:
    """Yield the segments of IWSLT's train.tags: lines without metadata.

    Titles and descriptions count as segments, without their tags, as in fairseq's preparation."""
    for number, line in enumerate(file, 1):
        if not METADATA.match(line):
            yield number, collapse(HEADING.sub(b"", line))


def collapse(segment: bytes) -> bytes:
    """Replace runs of whitespace by one space."""
    text = segment.decode(errors="surrogateescape")
    return " ".join(text.split()).encode(errors="surrogateescape")


READERS: dict[Format, Callable[[Iterable[bytes], Path], Numbered]] = {
    "text": plain,
    "gzip": plain,
    "sgm": sgm,
    "tags": tags,
}
