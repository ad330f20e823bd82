"""The moving average of the weights, fairseq's models/ema/ema.py (--store-ema)."""

import functools
import typing

import torch
from fairseq.models.ema.ema import EMA


def copy_what_is_no_average() -> None:
    """Copy the entries of the state dict that are no average.

    EMA averages all: it fails on integers and flags, and would blend a buffer that a model writes once, such as a
    profile, with its value before. Modules name such buffers in `written_once`."""
    original = EMA.__init__

    @functools.wraps(original)
    def initialise(
        self: EMA, model: torch.nn.Module, config: typing.Any, device: typing.Any = None, skip_keys: typing.Any = None
    ) -> None:
        original(self, model, config, device, {*(skip_keys or ()), *copied(model)})

    EMA.__init__ = initialise


def copied(model: torch.nn.Module) -> set[str]:
    """Return the names of the entries that the average copies."""
    written_once = {
        f"{path}.{name}".lstrip(".")
        for path, module in model.named_modules()
        for name in getattr(module, "written_once", ())
    }
    return written_once | {key for key, value in model.state_dict().items() if not _averages(value)}


def _averages(entry: typing.Any) -> bool:
    return torch.is_tensor(entry) and entry.is_floating_point()


def average_tied_weights_once() -> None:
    """Average a weight of several names once.

    With --share-all-embeddings it is one tensor in both models, which EMA averages once per name, so that the decay is
    ema_decay squared or cubed."""
    original = EMA._step_internal

    @functools.wraps(original)
    def step(self: EMA, new_model: torch.nn.Module, updates: int | None = None) -> None:
        original(self, _OneNameEach(new_model), updates)

    EMA._step_internal = step


class _OneNameEach:
    """Model whose state dict has each tensor once, by its first name."""

    def __init__(self, model: torch.nn.Module):
        self._model = model

    def state_dict(self) -> dict[str, typing.Any]:
        first_names: dict[int, str] = {}
        for name, tensor in self._model.state_dict(keep_vars=True).items():
            first_names.setdefault(id(tensor), name)
        names = set(first_names.values())
        return {name: tensor for name, tensor in self._model.state_dict().items() if name in names}
