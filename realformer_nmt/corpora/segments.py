"""Segments of the texts that corpora are made of, as bytes.

The byte \\n alone ends a line: \\r, U+2028, U+0085, form feeds and their like stand inside segments of the WMT corpora
and would misalign the sides (issue 4590 of tensorflow/datasets). XML entities stay as they are written: sacreBLEU's
references keep them too, and its tokeniser 13a knows them.
"""

import functools
import gzip
import itertools
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.corpus import Format

SEGMENT = re.compile(rb"<seg\b[^>]*>(.*?)</seg>")
METADATA = re.compile(rb"\s*</?(?:url|talkid|keywords|speaker|reviewer|translator|doc)\b")
HEADING = re.compile(rb"</?(?:title|description)>")
Invalid = Literal["replace", "refuse"]
LONGEST_LINE = 1 << 26  # bytes
Numbered = Iterator[tuple[int, bytes]]  # line of the file, segment without its line end


class Block(NamedTuple):
    """Neighbouring pairs; each segment ends with \\n, and all of it is valid UTF-8."""

    source: bytes
    target: bytes
    pairs: int
    replaced: int  # segments whose invalid bytes became U+FFFD
    reach: int  # how many bytes of the two files it and the blocks before it took


def blocks(
    source: Path, target: Path, form: Format = "text", invalid: Invalid = "refuse", size: int = 2000
) -> Iterator[Block]:
    """Every pair in order, `size` a block; sides of unequal length are an error."""
    texts = Segments(source, form), Segments(target, form)
    left, right = map(iter, texts)
    read = 0
    while True:
        ours, theirs = list(itertools.islice(left, size)), list(itertools.islice(right, size))
        if len(ours) != len(theirs):
            counts = [read + len(taken) + sum(1 for _ in rest) for taken, rest in ((ours, left), (theirs, right))]
            raise UserError(
                f"{source} has {counts[0]} segments, but {target} has {counts[1]}: lines that are translations of "
                "each other must stand at the same place; take the files from a complete download"
            )
        if not ours:
            return
        read += len(ours)
        (mine, bad), (other, worse) = valid(ours, source, invalid), valid(theirs, target, invalid)
        yield Block(mine, other, len(ours), bad + worse, sum(text.reach for text in texts))


class Segments:
    """Of one file, with the numbers of their lines."""

    def __init__(self, path: Path, form: Format) -> None:
        self.path, self.form = path, form
        self.file: BinaryIO | None = None

    def __iter__(self) -> Numbered:
        path = self.path
        try:
            with path.open("rb") as self.file, gzip.open(self.file) if self._compressed else self.file as text:
                yield from READERS[self.form](bounded(text, path), path)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(f"{path}: not a whole gzip file ({error}); take it from a complete download") from error
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from error

    @property
    def reach(self) -> int:
        """How many bytes of the file have been read."""
        if self.file is None:
            return 0
        return self.path.stat().st_size if self.file.closed else self.file.tell()

    @property
    def _compressed(self) -> bool:
        return self.form == "gzip" or self.path.suffix == ".gz"


def bounded(text: BinaryIO | gzip.GzipFile, path: Path) -> Iterator[bytes]:
    """Its lines: a small file may hold one, compressed, that no memory does."""
    for number, line in enumerate(iter(functools.partial(text.readline, LONGEST_LINE), b""), 1):
        if len(line) == LONGEST_LINE:
            raise UserError(f"{path}, line {number}: longer than {LONGEST_LINE:,} bytes: check that it is a text file")
        yield line


def valid(lines: list[tuple[int, bytes]], path: Path, invalid: Invalid) -> tuple[bytes, int]:
    """The segments joined, and how many of them were not UTF-8."""
    whole = b"".join(segment + b"\n" for _, segment in lines)
    try:
        whole.decode()
    except UnicodeDecodeError:
        wrong = [number for number, segment in lines if not is_utf8(segment)]
    else:
        return whole, 0
    if invalid == "refuse":
        raise UserError(
            f"{path}, line {wrong[0]}: invalid UTF-8; repair the file, or replace such bytes (--invalid-utf8 replace)"
        )
    for number in wrong:
        print(f"{path}, line {number}: invalid UTF-8 replaced", file=sys.stderr)
    return whole.decode(errors="replace").encode(), len(wrong)


def is_utf8(segment: bytes) -> bool:
    try:
        segment.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain(file: Iterable[bytes], _: Path) -> Numbered:
    return enumerate((line.rstrip(b"\n") for line in file), 1)


def sgm(file: Iterable[bytes], path: Path) -> Numbered:
    """`<seg id="1">...</seg>`, one a line, whitespace collapsed, as sacreBLEU reads WMT's .sgm and IWSLT's .xml."""
    for number, line in enumerate(file, 1):
        found = SEGMENT.search(line)
        if found:
            yield number, collapse(found[1])
        elif b"<seg" in line:
            raise UserError(f"{path}, line {number}: <seg> without its </seg>; a segment must stand in one line")


def tags(file: Iterable[bytes], _: Path) -> Numbered:
    """IWSLT's train.tags: without the lines of metadata; titles and descriptions count as segments, as in fairseq's
    preparation, without their tags."""
    for number, line in enumerate(file, 1):
        if not METADATA.match(line):
            yield number, collapse(HEADING.sub(b"", line))


def collapse(segment: bytes) -> bytes:
    text = segment.decode(errors="surrogateescape")
    return " ".join(text.split()).encode(errors="surrogateescape")


READERS: dict[Format, Callable[[Iterable[bytes], Path], Numbered]] = {
    "text": plain,
    "gzip": plain,
    "sgm": sgm,
    "tags": tags,
}
