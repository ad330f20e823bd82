"""Checkpoints that would make a folder when they are loaded, each in a way of its own."""

import argparse
import io
import os
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

State = dict[str, Any]
Hide = Callable[[State, Path, Path], None]  # state of a good one, where the bad one goes, the folder it would make


class Calls:
    """Object whose pickle calls a function when it is loaded."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.call


def makes(folder: Path) -> Calls:
    return Calls(os.mkdir, str(folder))


def in_the_model(state: State, path: Path, proof: Path) -> None:
    torch.save({**state, "model": makes(proof)}, path)


def among_the_options(state: State, path: Path, proof: Path) -> None:
    torch.save({**state, "cfg": {"model": argparse.Namespace(arch=makes(proof))}}, path)


def in_the_old_format(state: State, path: Path, proof: Path) -> None:
    torch.save({**state, "task_state": makes(proof)}, path, _use_new_zipfile_serialization=False)


def as_plain_pickle(_: State, path: Path, proof: Path) -> None:
    path.write_bytes(pickle.dumps(makes(proof)))


def in_a_persistent_id(_: State, path: Path, proof: Path) -> None:
    """Hide the call where torch looks a tensor's storage up."""

    class Poisoned(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return ("storage", makes(proof), "0", "cpu", 1) if obj == "a tensor" else None

    stream = io.BytesIO()
    Poisoned(stream, protocol=2).dump({"model": {"weight": "a tensor"}})
    _zip(path, stream.getvalue())


def _zip(path: Path, pickled: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"data.pkl": pickled, "version": b"3\n", "byteorder": b"little"}.items():
            archive.writestr(f"archive/{name}", content)


def as_a_tar(_: State, path: Path, proof: Path) -> None:
    """The format before 2018."""
    content = pickle.dumps(makes(proof), protocol=2)
    with tarfile.open(path, "w") as archive:
        for name in ("storages", "tensors", "pickle"):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def as_torchscript(_: State, path: Path, __: Path) -> None:
    """A program, which torch.load would hand to torch.jit."""
    torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), str(path))


HIDING_PLACES: tuple[Hide, ...] = (  # reliability/hostile_pickles.py has more, tried at all readers
    *(in_the_model, among_the_options),
    *(in_the_old_format, as_plain_pickle, in_a_persistent_id, as_a_tar, as_torchscript),
)
