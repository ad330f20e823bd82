"""TensorBoard, W&B and Aim for a training, checked before, as fairseq silently trains without one that is missing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.checkpoints.run_files import TENSORBOARD
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option import option
from realformer_nmt.common.requests.request import Request


class Tracker(NamedTuple):
    """Service or library that a training can log to."""

    option: str
    imported: str  # variable of fairseq's progress_bar: None where the import failed
    package: str


TRACKERS = {  # by fairseq's option
    "tensorboard_logdir": Tracker("--tensorboard", "SummaryWriter", "tensorboard"),
    "wandb_project": Tracker("--wandb-project", "wandb", "wandb"),
    "aim_repo": Tracker("--aim-repo", "get_aim_run", "aim"),
}


@dataclass(frozen=True, kw_only=True)
class TrackerOptions(Request):
    """Base of requests that train: the trackers that a training logs to."""

    tensorboard: bool = option("log to the folder tensorboard/ of each training", False)
    wandb_project: str | None = option(
        "log to W&B; WANDB_MODE=offline: to wandb/ of each training alone", None, metavar="NAME"
    )
    aim_repo: Path | None = option("log to this repository of Aim", None, metavar="FOLDER")


def flags(options: TrackerOptions, folder: Path) -> list[str]:
    """Return fairseq-train's flags for a training in `folder`."""
    if options.aim_repo and os.path.lexists(options.aim_repo) and not options.aim_repo.is_dir():
        raise UserError(f"--aim-repo {options.aim_repo} is no folder: name another, or remove it")
    argv = ["--tensorboard-logdir", str(folder.absolute() / TENSORBOARD)] if options.tensorboard else []
    argv += ["--wandb-project", options.wandb_project] if options.wandb_project else []
    return argv + (["--aim-repo", str(options.aim_repo.absolute())] if options.aim_repo else [])


def check_requested(options: TrackerOptions) -> None:
    for tracker in TRACKERS.values():
        if getattr(options, tracker.option[2:].replace("-", "_")):
            check(tracker)


def check_installed(cfg: Any) -> None:
    for name, tracker in TRACKERS.items():
        if cfg.common.get(name):
            check(tracker)


def check(tracker: Tracker) -> None:
    from fairseq.logging import progress_bar  # slow to import, and not needed for --help

    package = tracker.package
    if vars(progress_bar).get(tracker.imported) is None:
        raise UserError(
            f"{tracker.option} needs a package that is not installed: pip install {package}, or leave it out; "
            f"if it is there, `python -c 'import {package}'` says what it lacks"
        )


def environment(folder: Path) -> Mapping[str, str]:
    """Return the environment with W&B's name and folder: else each run is `checkpoints`, in the current folder."""
    return {"WANDB_NAME": folder.resolve().name, "WANDB_DIR": str(folder.absolute()), **os.environ}
