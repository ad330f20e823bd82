"""The reader of checkpoints, through which all of fairseq's commands and ours read them.

It runs no code of a file and looks up no class by a name in it (pickle_reader.py, rebuilders.py), and uses no byte
whose checksum is wrong (torch_files.py). What it cannot read is an error of one line that names the file.
"""

import contextlib
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypedDict, cast

import torch
from torch import Tensor

from realformer_nmt.checkpoints.files.pickle_reader import ForeignNameError, PickleError
from realformer_nmt.checkpoints.files.rebuilders import Values
from realformer_nmt.checkpoints.files.torch_files import opened, parse_storage_id
from realformer_nmt.common.errors import UserError, one_line

SAVED = "give checkpoints that fairseq-train has saved"


class Checkpoint(TypedDict, total=False):
    """Entries of a checkpoint by fairseq's names; a file may lack some, have more, or hold values of other types."""

    args: Any  # options of an older fairseq
    cfg: Any  # options by groups
    model: dict[str, Tensor]
    optimizer_history: Any
    task_state: Any
    extra_state: Any
    last_optimizer_state: Any


def load(path: Path, unread: Container[str] = ()) -> Checkpoint:
    """Return a checkpoint; the tensors in the entries `unread` have only shapes, their numbers are not read."""
    with regular(path).open("rb") as file:
        return load_stream(file, str(path), unread)


def load_stream(file: BinaryIO, name: str, unread: Container[str] = (), hint: str = SAVED) -> Checkpoint:
    """Return the checkpoint in an open file; errors call the file `name` and end with the hint."""
    with in_one_line(name, hint):
        source = opened(file)
        nodes = source.root()
        if type(nodes) is not dict:
            raise PickleError("it holds no entries such as model and cfg")
        complete, shapes = Values(source.storage), Values(shape)
        entries = {key: (shapes if key in unread else complete).of(node) for key, node in nodes.items()}
        return cast(Checkpoint, entries)


def load_tensors(path: Path, hint: str) -> dict[str, Tensor]:
    """Return the tensors of a file that holds nothing else: torch.save of a state_dict."""
    with regular(path).open("rb") as file, in_one_line(str(path), hint):
        source = opened(file)
        tensors = Values(source.storage).of(source.root())
        if not isinstance(tensors, dict) or not all(isinstance(value, Tensor) for value in tensors.values()):
            raise PickleError("it holds other values than tensors")
        return dict(tensors)


def damage(path: Path) -> str | None:
    """Return why a file is damaged, or None; a file that is complete but refused by `load` is not damaged."""
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


def shape(storage_id: Any) -> Tensor:
    """Return a storage without its numbers, on the meta device."""
    _, dtype, length = parse_storage_id(storage_id)
    return torch.empty(length, dtype=dtype, device="meta")


def regular(path: Path) -> Path:
    """Return the path of a regular file; refuse folders, and pipes, on which reading would wait without end."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder; give an existing one")
    if not path.is_file():
        raise UserError(f"{path} is {'a folder' if path.is_dir() else 'no ordinary file'}; {SAVED}")
    return path


@contextlib.contextmanager
def in_one_line(name: str, hint: str) -> Iterator[None]:
    """Turn all errors of a block that reads a checkpoint into a UserError of one line that names the file."""
    try:
        yield
    except ForeignNameError as error:
        raise UserError(
            f"refused to load {name}: it holds {error}, and loading that could run code; nothing of it was run. Ask "
            "its maker for a checkpoint of tensors and plain values; if it was one, it is damaged: copy it again"
        ) from None
    except Exception as error:  # a damaged file may trip any part of the reader
        raise UserError(f"cannot load {name}: it is not a complete checkpoint ({reason(error)}); {hint}") from error
