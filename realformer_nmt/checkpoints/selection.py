"""Which checkpoints to average: the last states of a folder, its best, or the files that were named.

A training that ends inside an epoch leaves its last state in checkpoint_last.pt alone.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints import layout
from realformer_nmt.common.errors import UserError

EPOCH = re.compile(r"checkpoint(\d+)\.pt")
UPDATE = re.compile(r"checkpoint_\d+_(\d+)\.pt")
END = "checkpoint_last.pt"
BEST = re.compile(r"checkpoint\.best_(.+)_(\d+\.\d{3})\d*\.pt")  # fairseq adds a random digit against ties


def last(folder: Path, number: int, kind: re.Pattern[str], until: int | None = None) -> list[Path]:
    """The newest states, oldest first: those of epochs (or updates), and the one where the training stands."""
    kept = sorted((int(match[1]), path) for match, path in _matching(folder, kind))
    kept += _end(folder, kept[-1][1] if kept else None, kind)
    states = [path for count, path in kept if until is None or count <= until]
    return _take(folder, number, states, "epoch" if kind is EPOCH else "update")


def _end(folder: Path, newest: Path | None, kind: re.Pattern[str]) -> list[tuple[int, Path]]:
    """checkpoint_last.pt, unless the newest of the others is of the same update."""
    path = folder / END
    if not path.is_file():
        return []
    state = layout.without_weights(path)
    updates = layout.updates(state) or 0
    if newest and updates <= (layout.updates(layout.without_weights(newest)) or 0):
        return []
    return [((layout.epochs(state) or 0) if kind is EPOCH else updates, path)]


def best(folder: Path, number: int) -> list[Path]:
    """By the value in the name; the checkpoint says whether more is better."""
    found = _matching(folder, BEST)
    metrics = {match[1] for match, _ in found}
    if len(metrics) > 1:
        raise UserError(f"{folder} holds the best by {' and by '.join(sorted(metrics))}: name the files to average")
    sign = 1 if found and _more_is_better(layout.without_weights(found[0][1])) else -1
    ranked = sorted((sign * float(match[2]), path.name, path) for match, path in found)
    return _take(folder, number, [path for _, _, path in ranked], "best")


def named(paths: Sequence[Path]) -> list[Path]:
    """Once each: a file given twice would weigh twice."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise UserError(f"{path} is given twice: give each checkpoint once")
        seen.add(path.resolve())
    return list(paths)


def _matching(folder: Path, kind: re.Pattern[str]) -> list[tuple[re.Match[str], Path]]:
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: give the --save-dir of fairseq-train")
    matches = [(kind.fullmatch(path.name), path) for path in sorted(folder.iterdir())]
    return [(match, path) for match, path in matches if match]


def _take(folder: Path, number: int, found: list[Path], kind: str) -> list[Path]:
    if number < 1:
        raise UserError(f"{number} checkpoints cannot be averaged: ask for 1 or more")
    if len(found) < number:
        names = ", ".join(path.name for path in found) or "none"
        told = f"asked for {number} {kind} checkpoints, found {len(found)} in {folder}: {names}"
        raise UserError(f"{told}; ask for fewer, or name the files to average")
    return found[-number:]


def _more_is_better(state: dict[str, Any]) -> bool:
    return bool(layout.setting(state, "checkpoint", "maximize_best_checkpoint_metric"))
