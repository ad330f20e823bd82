"""Reader of the files that torch.save writes: their pickle, their tensors' numbers and their checksums.

Since torch 1.6 a file is a zip archive with a checksum for each record; no byte of a record is used before its checksum
is verified. Older files have no checksum: only their length can be checked.
"""

import io
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from realformer_nmt.checkpoints.files import pickle_reader
from realformer_nmt.checkpoints.files.pickle_reader import PickleError, QualifiedName
from realformer_nmt.checkpoints.files.rebuilders import ALLOWED, DTYPES

BEGINNING = b"PK\x03\x04"  # of an archive
PICKLE = b"\x80\x02"
MAGIC = 0x1950A86A20F9469CFC6C  # how torch's files began before 1.6
PROTOCOL = 1001
CHUNK = 1 << 20  # bytes read at a time


class DamagedError(ValueError):
    """A checkpoint that is cut off, or whose bytes have changed since it was written."""


class TorchArchive:
    """An open file of torch 1.6 or later, and the storages that were read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self.size = file.seek(0, io.SEEK_END)
        try:
            self.zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise DamagedError(
                "its end is missing or damaged: it is cut off or still being written; copy it again"
            ) from error
        names = [member.filename for member in self.zip.infolist()]
        pickled = [name for name in names if name.endswith("data.pkl")]
        if len(pickled) != 1 or len(set(names)) != len(names):
            raise PickleError("it is an archive, and not one of torch.save's")
        self.folder = pickled[0].removesuffix("data.pkl")
        self.members = {member.filename: member for member in self.zip.infolist()}
        self.storages: dict[str, Tensor] = {}

    def root(self) -> Any:
        """Return the root node of the pickle."""
        order = f"{self.folder}byteorder"
        if order in self.members and self.bytes(order).numpy().tobytes() != b"little":
            raise PickleError("its numbers are of another byte order")
        return pickle_reader.read(io.BytesIO(self.bytes(f"{self.folder}data.pkl").numpy().tobytes()), ALLOWED)[0]

    def bytes(self, name: str) -> Tensor:
        """Return the bytes of a record, all of them: zipfile verifies the checksum at the end."""
        member = self.members.get(name)
        if member is None:
            raise DamagedError(f"it has no {name}")
        if member.compress_type != zipfile.ZIP_STORED or member.file_size > self.size:
            raise DamagedError(f"its {name} is not as torch.save writes it")
        content = torch.empty(member.file_size, dtype=torch.uint8)
        view, at = content.numpy(), 0
        with self.zip.open(member) as stream:
            while chunk := stream.read(CHUNK):
                view[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
                at += len(chunk)
        if at != member.file_size:
            raise DamagedError(f"its {name} is cut off")
        return content

    def storage(self, storage_id: Any) -> Tensor:
        """Return the numbers of a storage, one-dimensional."""
        key, dtype, _ = parse_storage_id(storage_id)
        if key not in self.storages:
            self.storages[key] = as_dtype(self.bytes(f"{self.folder}data/{key}"), dtype)
        return storage_of(self.storages, storage_id)

    def verify(self) -> None:
        damaged = self.zip.testzip()
        if damaged:
            raise DamagedError(f"the checksum of its {damaged} is wrong")


class OldTorchFile:
    """An open file of torch before 1.6: the pickle, then the storages, each after its length."""

    def __init__(self, file: BinaryIO) -> None:
        file.seek(0)
        if [pickle_reader.read(file, ALLOWED)[0] for _ in range(2)] != [MAGIC, PROTOCOL]:
            raise PickleError("it was not written by torch.save")
        if pickle_reader.read(file, ALLOWED)[0].get("little_endian") is not True:
            raise PickleError("its numbers are of another byte order")
        self._root, storage_ids = pickle_reader.read(file, ALLOWED)
        dtypes = {key: dtype for key, dtype, _ in map(parse_storage_id, storage_ids)}
        keys, _ = pickle_reader.read(file, ALLOWED)
        if not isinstance(keys, list) or set(keys) != set(dtypes):
            raise PickleError("it holds other tensors than its pickle lists")
        self.storages = {key: next_storage(file, dtypes[key]) for key in keys}
        if file.read(1):
            raise DamagedError("it has extra bytes after its numbers")

    def root(self) -> Any:
        """Return the root node of the pickle."""
        return self._root

    def storage(self, storage_id: Any) -> Tensor:
        """Return the numbers of a storage, one-dimensional."""
        return storage_of(self.storages, storage_id)

    def verify(self) -> None:
        """Do nothing: all checks were made when the file was opened."""


def next_storage(file: BinaryIO, dtype: torch.dtype) -> Tensor:
    """Read a storage of an old file: its length in 8 bytes, then its numbers."""
    size = int.from_bytes(file.read(8), "little") * dtype.itemsize
    start = file.tell()
    if size > file.seek(0, io.SEEK_END) - start:
        raise DamagedError("it is cut off before the last of its numbers")
    file.seek(start)
    content = torch.empty(size, dtype=torch.uint8)
    content.numpy()[:] = np.frombuffer(file.read(size), np.uint8)
    return as_dtype(content, dtype)


def parse_storage_id(value: Any) -> tuple[str, torch.dtype, int]:
    """Return key, dtype and length of ("storage", kind, key, device, length); older files have a sixth entry, None."""
    if type(value) is not tuple or len(value) not in (5, 6) or value[0] != "storage" or value[5:] not in ((), (None,)):
        raise PickleError("its numbers are not stored as torch.save stores them")
    _, kind, key, _, length = value[:5]
    if (
        not isinstance(kind, QualifiedName)
        or kind.name not in DTYPES
        or type(key) is not str
        or type(length) is not int
    ):
        raise PickleError("its numbers have a type that is not allowed")
    return key, DTYPES[kind.name], length


def storage_of(storages: Mapping[str, Tensor], storage_id: Any) -> Tensor:
    """Return the storage of an id; refuse one of another dtype or length than the id says."""
    key, dtype, length = parse_storage_id(storage_id)
    if storages[key].dtype != dtype or len(storages[key]) != length:
        raise PickleError(f"its numbers {key} have another type or another length than it says")
    return storages[key]


def as_dtype(content: Tensor, dtype: torch.dtype) -> Tensor:
    """Return bytes as numbers of a dtype."""
    if len(content) % dtype.itemsize:
        raise PickleError("some of its numbers are cut off")
    if dtype == torch.bool and content.numel() and int(content.max()) > 1:
        raise PickleError("some of its flags are neither true nor false")
    return content.view(dtype)


def opened(file: BinaryIO) -> TorchArchive | OldTorchFile:
    """Return the reader for a file by its first bytes; an archive whose first bytes are damaged is known by its end."""
    file.seek(0)
    beginning = file.read(len(BEGINNING))
    if beginning == BEGINNING or (beginning[:2] != PICKLE and zipfile.is_zipfile(file)):
        return TorchArchive(file)
    if beginning[:2] == PICKLE:
        return OldTorchFile(file)
    raise DamagedError("it has neither the beginning nor the end of a checkpoint" if beginning else "it is empty")
