"""The moving average of the weights, fairseq's models/ema/ema.py (--store-ema)."""

from typing import Any

from fairseq.models.ema.ema import EMA
from torch import Tensor, nn

from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(EMA, "__init__")
def copy_other_state(
    original: Original, average: EMA, model: nn.Module, config: Any, device: Any = None, skip_keys: Any = None
) -> None:
    """Copy state that is no average.

    EMA fails on integers and flags, and averages a buffer that is written once, such as a profile. Modules name such
    buffers in `written_once`.
    """
    original(average, model, config, device, {*(skip_keys or ()), *copied(model)})


def copied(model: nn.Module) -> set[str]:
    """Return the names of the entries that the average copies."""
    written_once = {
        f"{path}.{name}".lstrip(".")
        for path, module in model.named_modules()
        for name in getattr(module, "written_once", ())
    }
    return written_once | {key for key, value in model.state_dict().items() if not _averages(value)}


def _averages(entry: object) -> bool:
    return isinstance(entry, Tensor) and entry.is_floating_point()


@patch(EMA, "_step_internal")
def average_tied_weights_once(
    original: Original, average: EMA, new_model: nn.Module, updates: int | None = None
) -> None:
    """Average tied weights once.

    With --share-all-embeddings EMA averages one tensor once per name: the decay is ema_decay squared or cubed.
    """
    original(average, _OneNameEach(new_model), updates)


@patch(EMA, "step")
def average_after_the_same_updates(
    original: Original, average: EMA, new_model: nn.Module, updates: int | None = None
) -> None:
    """Average after every N-th update of --ema-update-freq N.

    fairseq counts from where the training was resumed (models/ema/ema.py).
    """
    if updates is not None:
        average.update_freq_counter = (updates - 1) % average.config.ema_update_freq
    original(average, new_model, updates)


class _OneNameEach:
    """Model whose state dict has each tensor once, by its first name."""

    def __init__(self, model: nn.Module):
        self._model = model

    def state_dict(self) -> dict[str, Tensor]:
        first_names: dict[int, str] = {}
        for name, tensor in self._model.state_dict(keep_vars=True).items():
            first_names.setdefault(id(tensor), name)
        names = set(first_names.values())
        return {name: tensor for name, tensor in self._model.state_dict().items() if name in names}
