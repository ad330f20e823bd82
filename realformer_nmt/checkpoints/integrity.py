"""Which checkpoints are whole, and how far their trainings had come."""

from collections.abc import Iterable
from pathlib import Path

from realformer_nmt.checkpoints import reading
from realformer_nmt.common.errors import UserError

ENTRIES = ("model", "last_optimizer_state", "extra_state")  # with tensors


def is_cut(path: Path) -> bool:
    """Whether any of its bytes is not as it was written. What else it may hold, its loader says."""
    return path.is_file() and reading.damage(path) is not None


def updates(path: Path) -> int | None:
    """How far a training had come that can go on from here; tensors stay on the disk."""
    try:
        state = reading.load(path, ENTRIES)
        return int(state["optimizer_history"][-1]["num_updates"]) if state["last_optimizer_state"] else None
    except (UserError, LookupError, TypeError, ValueError):
        return None


def newest(paths: Iterable[Path]) -> Path | None:
    """By updates; all that is in it is read only of those that come first."""
    known = [(made, path) for path in paths if (made := updates(path)) is not None]
    return next((path for _, path in sorted(known, reverse=True) if not is_cut(path)), None)


def describe(path: Path) -> str:
    """checkpoint3.pt (1,234 bytes, cut off or damaged)."""
    if not path.is_file():
        return f"{path.name} (no ordinary file)"
    made = None if (cut := is_cut(path)) else updates(path)
    state = "cut off or damaged" if cut else "nothing to go on from" if made is None else f"{made} updates"
    return f"{path.name} ({path.stat().st_size:,} bytes, {state})"
