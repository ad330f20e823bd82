"""One safe reader for all checkpoints: of training, decoding, the hub, and ranks that send each other one."""

import functools
import types
import typing
from pathlib import Path

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils
from fairseq.file_io import PathManager

from realformer_nmt.checkpoints import reading
from realformer_nmt.checkpoints.configuration import SettingsError, take_settings
from realformer_nmt.common.errors import UserError


class _CheckpointTorch(types.ModuleType):
    """torch for the module that loads checkpoints; `load` is the safe reader, whatever options its caller passes."""

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(torch, name)

    def load(self, file: typing.Any, *_: typing.Any, **__: typing.Any) -> reading.Checkpoint:
        name = str(getattr(file, "name", "the checkpoint"))
        try:
            return take_settings(reading.load_stream(file, name))
        except SettingsError as error:
            raise UserError(f"{name} {error}") from error


class _MessageTorch(_CheckpointTorch):
    """torch for the module in which rank 0 sends the others what it has loaded."""

    def load(self, file: typing.Any, *_: typing.Any, **__: typing.Any) -> typing.Any:
        return reading.receive(file)


def read_checkpoints_safely() -> None:
    """Read checkpoints without running code that they contain.

    fairseq's main branch loads with weights_only=False (checkpoint_utils.py, two calls; issue 5610), and torch before
    2.6 does so by default: a checkpoint from elsewhere runs the code that it contains. torch >= 2.6 refuses those with
    BLEU's counts or with the options of a model without a dataclass (issue 5603), and calls constructors of its own
    with any arguments that a file has. No torch verifies the checksums."""
    checkpoint_utils.torch = _CheckpointTorch("torch")
    distributed_utils.torch = _MessageTorch("torch")


def open_ordinary_files_alone() -> None:
    """Refuse a --path that is no file: fairseq waits for a FIFO without end, and ends by a traceback at a folder."""
    for name in ("load_checkpoint_to_cpu", "load_ema_from_checkpoint"):
        setattr(checkpoint_utils, name, _of_ordinary_file(getattr(checkpoint_utils, name)))


def _of_ordinary_file(original: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(original)
    def load(path: str, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if not PathManager.path_requires_pathmanager(path):
            reading.regular(Path(path))
        return original(path, *args, **kwargs)

    return load
