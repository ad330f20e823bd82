"""The files that torch.save writes: where the pickle stands in them, where the numbers, and whether they are whole.

Since torch 1.6 a file is an archive of zip's format with a checksum for each record; here no byte of a record is used
before its checksum is right. Older files have no checksum: only their length can be checked.
"""

import io
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from realformer_nmt.checkpoints import pickles
from realformer_nmt.checkpoints.pickles import Name, PickleError
from realformer_nmt.checkpoints.stand_ins import ALLOWED, DTYPES

BEGINNING = b"PK\x03\x04"  # of an archive
PICKLE = b"\x80\x02"
MAGIC = 0x1950A86A20F9469CFC6C  # how torch's files began before 1.6
PROTOCOL = 1001
PIECE = 1 << 20  # bytes read at a time


class DamagedError(ValueError):
    """A file that was to be a checkpoint, and has other bytes than it was given."""


class Archive:
    """An archive that is open, and the numbers that were read from it."""

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
        self.known: dict[str, Tensor] = {}

    def notes(self) -> Any:
        order = f"{self.folder}byteorder"
        if order in self.members and self.bytes(order).numpy().tobytes() != b"little":
            raise PickleError("its numbers are of another byte order")
        return pickles.read(io.BytesIO(self.bytes(f"{self.folder}data.pkl").numpy().tobytes()), ALLOWED)

    def bytes(self, name: str) -> Tensor:
        """Read as a whole: zipfile compares the checksum when it comes to the end."""
        member = self.members.get(name)
        if member is None:
            raise DamagedError(f"it has no {name}")
        if member.compress_type != zipfile.ZIP_STORED or member.file_size > self.size:
            raise DamagedError(f"its {name} is not as torch.save writes it")
        content = torch.empty(member.file_size, dtype=torch.uint8)
        view, at = content.numpy(), 0
        with self.zip.open(member) as stream:
            while piece := stream.read(PIECE):
                view[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
                at += len(piece)
        if at != member.file_size:
            raise DamagedError(f"its {name} is cut off")
        return content

    def storage(self, place: Any) -> Tensor:
        key, dtype, _ = described(place)
        if key not in self.known:
            self.known[key] = typed(self.bytes(f"{self.folder}data/{key}"), dtype)
        return agreeing(self.known, place)

    def verify(self) -> None:
        damaged = self.zip.testzip()
        if damaged:
            raise DamagedError(f"the checksum of its {damaged} is wrong")


class Old:
    """A file of before torch 1.6: the pickle comes first, its numbers follow, each with its length before it."""

    def __init__(self, file: BinaryIO) -> None:
        file.seek(0)
        if [pickles.read(file, ALLOWED) for _ in range(2)] != [MAGIC, PROTOCOL]:
            raise PickleError("it is none of torch.save's")
        if pickles.read(file, ALLOWED).get("little_endian") is not True:
            raise PickleError("its numbers are of another byte order")
        self.pickled, places = pickles.read_with_places(file, ALLOWED)
        kinds = {key: dtype for key, dtype, _ in map(described, places)}
        keys = pickles.read(file, ALLOWED)
        if not isinstance(keys, list) or set(keys) != set(kinds):
            raise PickleError("its numbers are not those of its pickle")
        self.known = {key: following(file, kinds[key]) for key in keys}
        if file.read(1):
            raise DamagedError("it goes on behind its numbers")

    def notes(self) -> Any:
        return self.pickled

    def storage(self, place: Any) -> Tensor:
        return agreeing(self.known, place)

    def verify(self) -> None:
        """All that can be known of it was when it was read."""


def following(file: BinaryIO, dtype: torch.dtype) -> Tensor:
    size = int.from_bytes(file.read(8), "little") * dtype.itemsize
    here = file.tell()
    if size > file.seek(0, io.SEEK_END) - here:
        raise DamagedError("it is cut off before the last of its numbers")
    file.seek(here)
    content = torch.empty(size, dtype=torch.uint8)
    content.numpy()[:] = np.frombuffer(file.read(size), np.uint8)
    return typed(content, dtype)


def described(place: Any) -> tuple[str, torch.dtype, int]:
    """Of ("storage", kind, key, device, length), and a sixth in older files."""
    if type(place) is not tuple or len(place) not in (5, 6) or place[0] != "storage" or place[5:] not in ((), (None,)):
        raise PickleError("its numbers stand in no place that torch.save knows")
    _, kind, key, _, length = place[:5]
    if not isinstance(kind, Name) or kind.name not in DTYPES or type(key) is not str or type(length) is not int:
        raise PickleError("its numbers are of no kind that is allowed")
    return key, DTYPES[kind.name], length


def agreeing(known: Mapping[str, Tensor], place: Any) -> Tensor:
    key, dtype, length = described(place)
    if known[key].dtype != dtype or len(known[key]) != length:
        raise PickleError(f"its numbers {key} are of another kind, or not as many as it says")
    return known[key]


def typed(content: Tensor, dtype: torch.dtype) -> Tensor:
    if len(content) % dtype.itemsize:
        raise PickleError("some of its numbers are cut off")
    if dtype == torch.bool and content.numel() and int(content.max()) > 1:
        raise PickleError("some of its flags are neither true nor false")
    return content.view(dtype)


def opened(file: BinaryIO) -> Archive | Old:
    """By what it begins with; an archive whose beginning is damaged has a directory at its end."""
    file.seek(0)
    beginning = file.read(len(BEGINNING))
    if beginning == BEGINNING or (beginning[:2] != PICKLE and zipfile.is_zipfile(file)):
        return Archive(file)
    if beginning[:2] == PICKLE:
        return Old(file)
    raise DamagedError(unlike(beginning))


def unlike(beginning: bytes) -> str:
    if not beginning:
        return "it is empty"
    return "it has neither the beginning nor the end of a checkpoint"
