"""Checkpoints are read by our reader alone, whoever reads them: training, decoding, hub, ranks that send one."""

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
    """torch for the module that loads checkpoints, with our reader for `load`, whatever its caller asks."""

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(torch, name)

    def load(self, file: typing.Any, *_: typing.Any, **__: typing.Any) -> dict[str, typing.Any]:
        name = str(getattr(file, "name", "the checkpoint"))
        try:
            return take_settings(reading.load_stream(file, name))
        except SettingsError as error:
            raise UserError(f"{name} {error}") from error


class _MessageTorch(_CheckpointTorch):
    """torch for the module in which ranks send each other what the first has loaded."""

    def load(self, file: typing.Any, *_: typing.Any, **__: typing.Any) -> typing.Any:
        return reading.receive(file)


def read_checkpoints_safely() -> None:
    """fairseq's main branch loads with weights_only=False (checkpoint_utils.py, two places; issue 5610), and torch
    before 2.6 does so by default: a checkpoint from elsewhere runs the code that it holds. torch >= 2.6 loads none with
    BLEU's counts or with the options of a model without a dataclass (issue 5603), calls constructors of its own with
    whatever a file says, and no torch looks at the checksums."""
    checkpoint_utils.torch = _CheckpointTorch("torch")
    distributed_utils.torch = _MessageTorch("torch")


def open_ordinary_files_alone() -> None:
    """Whatever --path names is opened: a FIFO is waited for without end, a folder is a traceback."""
    for name in ("load_checkpoint_to_cpu", "load_ema_from_checkpoint"):
        setattr(checkpoint_utils, name, _of_ordinary_file(getattr(checkpoint_utils, name)))


def _of_ordinary_file(original: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(original)
    def load(path: str, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if not PathManager.path_requires_pathmanager(path):
            reading.regular(Path(path))
        return original(path, *args, **kwargs)

    return load
