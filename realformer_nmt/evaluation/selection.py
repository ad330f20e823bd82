"""Which checkpoints to average: the last of a folder, the best of a folder, or those that were named."""

import re
from pathlib import Path
from typing import Any

from realformer_nmt.errors import UserError
from realformer_nmt.evaluation import checkpoints

EPOCH = re.compile(r"checkpoint(\d+)\.pt")
UPDATE = re.compile(r"checkpoint_\d+_(\d+)\.pt")
BEST = re.compile(r"checkpoint\.best_(.+)_(\d+\.\d{3})\d*\.pt")  # fairseq adds a random digit against ties


def last(folder: Path, number: int, kind: re.Pattern[str], until: int | None = None) -> list[Path]:
    found = [(int(match[1]), path) for match, path in _matching(folder, kind)]
    found = [(count, path) for count, path in found if until is None or count <= until]
    return _take(folder, number, [path for _, path in sorted(found)], "epoch" if kind is EPOCH else "update")


def best(folder: Path, number: int) -> list[Path]:
    """By the value in the name; the checkpoint says whether more is better."""
    found = _matching(folder, BEST)
    metrics = {match[1] for match, _ in found}
    if len(metrics) > 1:
        raise UserError(f"{folder} holds the best by {' and by '.join(sorted(metrics))}: name the files to average")
    sign = 1 if found and _more_is_better(checkpoints.load(found[0][1])) else -1
    ranked = sorted((sign * float(match[2]), path.name, path) for match, path in found)
    return _take(folder, number, [path for _, _, path in ranked], "best")


def named(paths: list[Path]) -> list[Path]:
    """Once each: a file given twice would weigh twice."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise UserError(f"{path} is given twice: give each checkpoint once")
        seen.add(path.resolve())
    return paths


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
        raise UserError(f"{told}; ask for fewer, or name the files to average, such as checkpoint_last.pt")
    return found[-number:]


def _more_is_better(state: dict[str, Any]) -> bool:
    return bool(checkpoints.setting(state, "checkpoint", "maximize_best_checkpoint_metric"))
