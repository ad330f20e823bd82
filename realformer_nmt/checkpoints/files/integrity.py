"""Checks whether checkpoints are complete, and of how many updates they are."""

from collections.abc import Iterable
from pathlib import Path

from realformer_nmt.checkpoints.files import reading
from realformer_nmt.common.errors import UserError

ENTRIES = ("model", "last_optimizer_state", "extra_state")  # with tensors


def is_cut(path: Path) -> bool:
    """Tell whether a checkpoint is cut off or damaged; one that loading would refuse for its content is not."""
    return path.is_file() and reading.damage(path) is not None


def updates(path: Path) -> int | None:
    """Return the number of updates of a checkpoint from which a training can go on; None for any other.

    The numbers of its tensors are not read.
    """
    try:
        state = reading.load(path, ENTRIES)
        return int(state["optimizer_history"][-1]["num_updates"]) if state["last_optimizer_state"] else None
    except (UserError, LookupError, TypeError, ValueError):
        return None


def newest(paths: Iterable[Path]) -> Path | None:
    """Return the complete checkpoint of the most updates.

    All bytes are read of the newest one, and of older ones only if the newer ones are damaged.
    """
    numbered = [(number, path) for path in paths if (number := updates(path)) is not None]
    return next((path for _, path in sorted(numbered, reverse=True) if not is_cut(path)), None)


def describe(path: Path) -> str:
    """Return a line such as `checkpoint3.pt (1,234 bytes, cut off or damaged)`."""
    if not path.is_file():
        return f"{path.name} (no ordinary file)"
    number = updates(path)
    state = "nothing to resume from" if number is None else f"{number} updates"
    return f"{path.name} ({path.stat().st_size:,} bytes, {'cut off or damaged' if is_cut(path) else state})"
