"""A reader of tar files, member by member, with headers of a bounded size.

Python's tarfile reads headers of any size into memory, searches pax headers in quadratic time (before 3.11.10), and
loops for ever at a negative size (before 3.11.14). Here it parses single blocks of 512 bytes only; long names and pax
records are read here, as far as they hold a name or a size.
"""

import gzip
import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarInfo
from typing import IO, NamedTuple

LONGEST_HEAD = 1 << 16  # bytes of a long name, or of a member's pax records: a path has 4096
MOST = 1 << 18  # limit for the number of members and headers
WHOLE = 128 << 30  # limit for the bytes of all members together
BLOCK = tarfile.BLOCKSIZE
RECORDS = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
HEADS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XGLTYPE, *RECORDS)
EMPTY = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE)
FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
Records = dict[bytes, bytes]
Stream = IO[bytes] | gzip.GzipFile


class TarMember(NamedTuple):
    name: str
    size: int
    plain: bool  # a file: no link, device or folder
    content: "Content"  # readable until the next member is read


class Content(io.RawIOBase):
    def __init__(self, stream: Stream, size: int) -> None:
        self._stream, self._left, self._padding = stream, size, -size % BLOCK

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(chunk)
        return chunk

    def skip(self) -> None:
        self._stream.seek(self._left + self._padding, io.SEEK_CUR)


def members(archive: Path) -> Iterator[TarMember]:
    with archive.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        with gzip.open(file) if compressed else file as stream:
            yield from _members(stream)


def _members(stream: Stream) -> Iterator[TarMember]:
    name: str | None = None  # from headers, for the member that follows
    records: Records = {}
    total = 0
    for _ in range(MOST):
        head = _head(stream)
        if head is None:
            return
        if head.type in HEADS:
            content = _head_content(stream, head)
            if head.type == tarfile.GNUTYPE_LONGNAME:
                name = content.partition(b"\0")[0].decode(errors="surrogateescape")
            if head.type in RECORDS:
                records = pax(content)
            continue
        member = _member(stream, head, name, records)
        total += member.size
        if total > WHOLE:
            raise tarfile.ReadError(f"its members have more than {WHOLE:,} bytes together")
        yield member
        member.content.skip()
        name, records = None, {}
    raise tarfile.ReadError(f"it has more than {MOST:,} members")


def _head(stream: Stream) -> TarInfo | None:
    block = stream.read(BLOCK)
    if not block.strip(b"\0"):  # the end of the archive
        return None
    head = TarInfo.frombuf(block, "utf-8", "surrogateescape")
    if head.size < 0 or head.type == tarfile.GNUTYPE_SPARSE:
        raise tarfile.ReadError(f"{head.name} has {head.size} bytes, or holes")
    return head


def _head_content(stream: Stream, head: TarInfo) -> bytes:
    if head.size > LONGEST_HEAD:
        raise tarfile.ReadError(f"a head has {head.size:,} bytes, more than the {LONGEST_HEAD:,} that are allowed")
    content = Content(stream, head.size)
    read = content.read()
    content.skip()
    return read


def pax(content: bytes) -> Records:
    """Parse records such as `17 path=training\\n`; the number is the length of the whole record."""
    records: Records = {}
    start = 0
    while start < len(content) and content[start]:
        length = re.compile(rb"([1-9][0-9]{0,7}) ").match(content, start)
        end = start + int(length[1]) if length else 0
        if length is None or end <= length.end() or content[end - 1 : end] != b"\n":
            raise tarfile.ReadError("a pax record has another length than it says")
        key, _, value = content[length.end() : end - 1].partition(b"=")
        records[key] = value
        start = end
    return records


def _member(stream: Stream, head: TarInfo, name: str | None, records: Records) -> TarMember:
    """Return the member of a header, with the name and size of the headers before it."""
    if b"path" in records:
        name = records[b"path"].decode(errors="surrogateescape")
    size = records.get(b"size", str(head.size).encode())
    if not re.fullmatch(rb"[0-9]{1,18}", size):
        raise tarfile.ReadError(f"{head.name} has {size!r} bytes")
    holes = any(key.startswith(b"GNU.sparse") for key in records)
    content = Content(stream, 0 if head.type in EMPTY else int(size))
    return TarMember((name or head.name).rstrip("/"), int(size), head.type in FILES and not holes, content)
