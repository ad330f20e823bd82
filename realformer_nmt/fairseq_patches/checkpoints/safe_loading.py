"""One safe reader for all checkpoints: of training, decoding and the hub."""

import types
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils
from fairseq.file_io import PathManager

from realformer_nmt.checkpoints.files import reading
from realformer_nmt.checkpoints.files.allowed_components import SettingsError
from realformer_nmt.checkpoints.files.configuration import take_settings
from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.patch import Original, replace


class _CheckpointTorch(types.ModuleType):
    """torch for the module that loads checkpoints; `load` is the safe reader, whatever options its caller passes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def load(self, file: Any, *_: object, **__: object) -> reading.Checkpoint:
        name = str(getattr(file, "name", "the checkpoint"))
        try:
            return take_settings(reading.load_stream(file, name))
        except SettingsError as error:
            raise UserError(f"{name} {error}") from error


class _MessageTorch(_CheckpointTorch):
    """torch for the module in which rank 0 sends the others what it has loaded; ranks trust each other."""

    def load(self, file: Any, *_: object, **__: object) -> Any:
        return torch.load(file, map_location="cpu", weights_only=False)


def read_checkpoints_safely() -> None:
    """Read checkpoints without running code in them.

    fairseq, and torch before 2.6, run the code that a checkpoint contains (issue 5610). fairseq's main branch loads
    with weights_only=False (checkpoint_utils.py, two calls). torch >= 2.6 refuses checkpoints with BLEU's counts or
    with the options of a model without a dataclass (issue 5603), and calls constructors of its own with any arguments
    that a file has. No torch verifies the checksums.
    """
    checkpoint_utils.torch = _CheckpointTorch("torch")
    distributed_utils.torch = _MessageTorch("torch")


def open_ordinary_files_alone() -> None:
    """Refuse a --path that is no file: fairseq waits for a FIFO without end, and shows a traceback for a folder."""
    for name in ("load_checkpoint_to_cpu", "load_ema_from_checkpoint"):
        replace(checkpoint_utils, name, _load)


def _load(original: Original, path: str, *args: Any, **kwargs: Any) -> Any:
    if not PathManager.path_requires_pathmanager(path):
        reading.regular(Path(path))
    return original(path, *args, **kwargs)
