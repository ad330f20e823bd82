"""The one reader of checkpoints: fairseq's commands, ours and the search for a whole one all read through here.

It runs nothing and looks up no class that a file names (pickles.py, stand_ins.py); it uses no byte whose checksum is
wrong (checkpoint_files.py). What it cannot read is an error of one line that names the file.
"""

import contextlib
import stat
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from realformer_nmt.checkpoints.pickles import ForeignNameError, PickleError
from realformer_nmt.checkpoints.stand_ins import Values
from realformer_nmt.checkpoints.torch_files import described, opened
from realformer_nmt.common.errors import UserError, one_line

NONE = "it is no checkpoint, or not all of one"
SAVED = "give checkpoints that fairseq-train has saved"


class CheckpointError(UserError):
    """A file that is no checkpoint, or not all of one."""


class UnsafeCheckpointError(UserError):
    """A checkpoint that holds more than tensors and plain values."""


def load(path: Path, unread: Container[str] = ()) -> dict[str, Any]:
    """Of the entries in `unread` only the shapes of tensors, so that their numbers stay in the file."""
    with regular(path).open("rb") as file:
        return load_stream(file, str(path), unread)


def load_stream(file: BinaryIO, name: str, unread: Container[str] = ()) -> dict[str, Any]:
    with in_one_line(name):
        source = opened(file)
        notes = source.notes()
        if type(notes) is not dict:
            raise PickleError("it holds no entries such as model and cfg")
        whole, shapes = Values(source.storage), Values(shape)
        return {key: (shapes if key in unread else whole).of(note) for key, note in notes.items()}


def receive(message: BinaryIO) -> Any:
    """What another rank of this training has sent."""
    with in_one_line("what rank 0 sent"):
        source = opened(message)
        return Values(source.storage).of(source.notes())


def damage(path: Path) -> str | None:
    """What of its bytes is not as it was written; whatever else it holds, its loader says."""
    try:
        with path.open("rb") as file:
            opened(file).verify()
    except ForeignNameError:
        return None
    except Exception as error:
        return reason(error)
    return None


def reason(error: Exception) -> str:
    return one_line(error) or type(error).__name__


def shape(place: Any) -> Tensor:
    _, dtype, length = described(place)
    return torch.empty(length, dtype=dtype, device="meta")


def regular(path: Path) -> Path:
    """A FIFO would be waited for, without end; a folder holds no checkpoint by itself."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else getattr(error, "strerror", None) or error
        raise CheckpointError(f"{path}: {why}; {SAVED}") from error
    if not stat.S_ISREG(mode):
        raise CheckpointError(f"{path} is {'a folder' if stat.S_ISDIR(mode) else 'no ordinary file'}; {SAVED}")
    return path


@contextlib.contextmanager
def in_one_line(name: str) -> Iterator[None]:
    try:
        yield
    except ForeignNameError as error:
        raise UnsafeCheckpointError(
            f"refused to load {name}: it holds {error}, and loading that could run code; nothing of it was run. Ask "
            "its maker for a checkpoint of tensors and plain values; if it was one, it is damaged: copy it again"
        ) from None
    except Exception as error:  # a damaged file may trip any part of the reader
        raise CheckpointError(f"cannot load {name}: {NONE} ({reason(error)}); {SAVED}") from error
