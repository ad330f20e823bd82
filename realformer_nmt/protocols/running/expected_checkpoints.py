"""Check that a training will leave as many checkpoints as are to be averaged, its last state among them."""

import math
from typing import Any

from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.protocols.running.updates import Length


def check(protocol: Protocol, cfg: Any, length: Length) -> None:
    """Check a training by `cfg`, what fairseq-train will read, the user's flags included."""
    if not ends_saved(cfg, length):
        raise UserError(
            "the last state of this training would not be saved: leave out --no-save, --no-last-checkpoints and "
            "--save-interval, or let it end with an epoch that is saved"
        )
    of_best = protocol.average_of == "best"
    written = best(cfg, length) if of_best else last(cfg, length)
    if written < protocol.average:
        kind = "validations" if of_best else "states (ends of epochs, and the end)"
        rest = f" and {length.rest:,} updates" if length.rest else ""
        raise UserError(
            f"{protocol.average} checkpoints are to be averaged, and {length.epochs} whole epochs of "
            f"{length.an_epoch:,} updates{rest} keep {written} {kind}: "
            + (f"pass --average {written}, or train longer" if written else "train longer, and validate")
        )


def last(cfg: Any, length: Length) -> int:
    """Count the epoch checkpoints, and the last one if the training ends within an epoch."""
    epochs = 0 if cfg.checkpoint.no_epoch_checkpoints else length.epochs // cfg.checkpoint.save_interval
    if cfg.checkpoint.keep_last_epochs > 0:
        epochs = min(epochs, cfg.checkpoint.keep_last_epochs)
    return epochs + (not _ends_as_epoch(cfg, length))


def best(cfg: Any, length: Length) -> int:
    """Count the best checkpoints, at most: fairseq keeps a state only where it is no worse than the worst of these."""
    if cfg.dataset.disable_validation:
        return 0
    inside = length.rest > 0 and _ends_by_updates(cfg, length)
    interval = cfg.checkpoint.save_interval_updates  # fairseq validates there, too, but at no end twice
    ends = math.lcm(interval, length.an_epoch)
    within = (length.updates - inside) // interval - length.updates // ends if interval > 0 else 0
    validations: int = length.epochs // cfg.dataset.validate_interval + inside + within
    return min(validations, int(cfg.checkpoint.keep_best_checkpoints))


def ends_saved(cfg: Any, length: Length) -> bool:
    if cfg.checkpoint.no_save:
        return False
    saves = _saves_epoch(cfg, length) or _ends_by_updates(cfg, length)
    return _ends_as_epoch(cfg, length) or (saves and not cfg.checkpoint.no_last_checkpoints)


def _ends_as_epoch(cfg: Any, length: Length) -> bool:
    return _saves_epoch(cfg, length) and not cfg.checkpoint.no_epoch_checkpoints


def _saves_epoch(cfg: Any, length: Length) -> bool:
    return length.rest == 0 and length.epochs % cfg.checkpoint.save_interval == 0


def _ends_by_updates(cfg: Any, length: Length) -> bool:
    """Tell whether --max-update ends the training: fairseq then saves and validates, also within an epoch."""
    return bool(length.updates == cfg.optimization.max_update)
