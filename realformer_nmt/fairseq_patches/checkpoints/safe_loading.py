"""One safe reader for all checkpoints: of training, decoding and the hub."""

import types
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils

from realformer_nmt.checkpoints.files import reading
from realformer_nmt.checkpoints.files.allowed_components import SettingsError
from realformer_nmt.checkpoints.files.configuration import take_settings
from realformer_nmt.common.errors import UserError


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
