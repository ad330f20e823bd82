"""Selection of the checkpoints to average: the last or the best of a folder, or named files.

A training that ends inside an epoch writes its last state only to checkpoint_last.pt.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.checkpoints.run_files import LAST
from realformer_nmt.common.errors import UserError

EPOCH = re.compile(r"checkpoint(\d+)\.pt")
UPDATE = re.compile(r"checkpoint_\d+_(\d+)\.pt")
BEST = re.compile(r"checkpoint\.best_(.+)_(-?\d+\.\d{3})\d*\.pt")  # fairseq adds a random digit against ties


def last(folder: Path, number: int, kind: re.Pattern[str], until: int | None = None) -> list[Path]:
    """Return the newest states, oldest first: those of epochs or updates, and that of the training's end."""
    numbered = sorted((int(match[1]), path) for match, path in _matching(folder, kind))
    numbered += _end(folder, numbered[-1][1] if numbered else None, kind)
    states = [path for count, path in numbered if until is None or count <= until]
    paths = _last_of(folder, number, states, "epoch" if kind is EPOCH else "update")
    if paths[-1].name != LAST and (folder / LAST).is_file():
        _check_one_training(paths[-1], folder / LAST)
    return paths


def _check_one_training(newest: Path, end: Path) -> None:
    """Refuse a state of more updates than the end: it is of an earlier training in the folder, or that was killed."""
    updates, updates_of_end = _updates(newest), _updates(end)
    if updates > updates_of_end:
        raise UserError(
            f"{newest} is of {updates:,} updates, but {end.name} beside it of {updates_of_end:,}: two trainings wrote "
            "here, or one was killed while it saved. Name the files to average, or resume the training that was killed"
        )


def _updates(path: Path) -> int:
    return checkpoint_fields.updates(checkpoint_fields.without_weights(path)) or 0


def _end(folder: Path, newest: Path | None, kind: re.Pattern[str]) -> list[tuple[int, Path]]:
    """Return checkpoint_last.pt with its epoch or update, unless `newest` is of the same update."""
    path = folder / LAST
    if not path.is_file():
        return []
    state = checkpoint_fields.without_weights(path)
    updates = checkpoint_fields.updates(state) or 0
    if newest and updates <= _updates(newest):
        return []
    return [((checkpoint_fields.epochs(state) or 0) if kind is EPOCH else updates, path)]


def best(folder: Path, number: int) -> list[Path]:
    """Return the best states, best last, by the values in their names.

    Whether a larger value is better is a setting in the checkpoint.
    """
    matches = _matching(folder, BEST)
    metrics = {match[1] for match, _ in matches}
    if len(metrics) > 1:
        raise UserError(f"{folder} holds the best by {' and by '.join(sorted(metrics))}: name the files to average")
    state = checkpoint_fields.without_weights(matches[0][1]) if matches else Checkpoint()
    sign = 1 if checkpoint_fields.setting(state, "checkpoint", "maximize_best_checkpoint_metric") else -1
    ranked = sorted((sign * float(match[2]), path.name, path) for match, path in matches)
    return _last_of(folder, number, [path for _, _, path in ranked], "best")


def check_distinct(paths: Sequence[Path]) -> list[Path]:
    """Return the paths; refuse a file that is given twice, which would weigh twice."""
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


def _last_of(folder: Path, number: int, paths: list[Path], kind: str) -> list[Path]:
    if number < 1:
        raise UserError(f"{number} checkpoints cannot be averaged: ask for 1 or more")
    if len(paths) < number:
        names = ", ".join(path.name for path in paths) or "none"
        problem = f"asked for {number} {kind} checkpoints, found {len(paths)} in {folder}: {names}"
        raise UserError(f"{problem}; ask for fewer, or name the files to average")
    return paths[-number:]
