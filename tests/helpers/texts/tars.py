"""Tars that no packer writes, block by block."""

import tarfile

END = bytes(2 * tarfile.BLOCKSIZE)


def head(kind: bytes, size: int, name: str = "top.en", *, exactly: bytes | None = None) -> bytes:
    """A header with a valid checksum, whatever its size says; `exactly` are the field's 12 bytes."""
    info = tarfile.TarInfo(name)
    info.type = kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = exactly or b"%011o\0" % size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % tarfile.BLOCKSIZE)


def entry(kind: bytes, data: bytes, name: str = "top.en") -> bytes:
    return head(kind, len(data), name) + padded(data)


def record(key: bytes, value: bytes) -> bytes:
    """Return a record of pax, whose length counts itself."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest) + 1
    while len(str(length)) + len(rest) != length:
        length += 1
    return str(length).encode() + rest
