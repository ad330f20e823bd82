"""One safe reader for all checkpoints: of training, decoding and the hub."""

from types import SimpleNamespace
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils

from realformer_nmt.checkpoints.files import reading
from realformer_nmt.checkpoints.files.allowed_components import SettingsError
from realformer_nmt.checkpoints.files.configuration import take_settings
from realformer_nmt.common.errors import UserError


def load(file: Any, *_: object, **__: object) -> reading.Checkpoint:
    """Load a checkpoint by the safe reader, whatever options the caller passes to torch."""
    name = str(getattr(file, "name", "the checkpoint"))
    try:
        return take_settings(reading.load_stream(file, name))
    except SettingsError as error:
        raise UserError(f"{name} {error}") from error


def load_message(file: Any, *_: object, **__: object) -> Any:
    """Load what rank 0 has loaded and sends to the others: ranks trust each other."""
    return torch.load(file, map_location="cpu", weights_only=False)


def read_checkpoints_safely() -> None:
    """Read checkpoints without running code in them.

    fairseq, and torch before 2.6, run the code that a checkpoint contains (issue 5610). fairseq's main branch loads
    with weights_only=False (checkpoint_utils.py, two calls). torch >= 2.6 refuses checkpoints with BLEU's counts or
    with the options of a model without a dataclass (issue 5603), and calls constructors of its own with any arguments
    that a file has. No torch verifies the checksums.
    """
    checkpoint_utils.torch = SimpleNamespace(**{**vars(torch), "load": load})
    distributed_utils.torch = SimpleNamespace(**{**vars(torch), "load": load_message})
