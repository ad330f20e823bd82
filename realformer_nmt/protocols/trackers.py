"""Where else a training logs to. Where it cannot import what it logs with, fairseq goes on without."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.run_files import TENSORBOARD


class Tracker(NamedTuple):
    option: str
    found: str  # fairseq's name for what it imported, None where it could not
    package: str


TRACKERS = {  # by fairseq's name
    "tensorboard_logdir": Tracker("--tensorboard", "SummaryWriter", "tensorboard"),
    "wandb_project": Tracker("--wandb-project", "wandb", "wandb"),
    "aim_repo": Tracker("--aim-repo", "get_aim_run", "aim"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tensorboard", action="store_true", help="log to the folder tensorboard/ of each training")
    parser.add_argument(
        "--wandb-project", metavar="NAME", help="log to W&B; WANDB_MODE=offline: to wandb/ of each training alone"
    )
    parser.add_argument("--aim-repo", type=Path, metavar="FOLDER", help="log to this repository of Aim")


def asked(args: argparse.Namespace) -> list[str]:
    """The same options, of a training of many."""
    return [*(["--tensorboard"] if args.tensorboard else []), *_elsewhere(args)]


def flags(args: argparse.Namespace) -> list[str]:
    """Of fairseq-train."""
    where = args.folder.absolute() / TENSORBOARD
    return [*(["--tensorboard-logdir", str(where)] if args.tensorboard else []), *_elsewhere(args)]


def _elsewhere(args: argparse.Namespace) -> list[str]:
    if args.aim_repo and os.path.lexists(args.aim_repo) and not args.aim_repo.is_dir():
        raise UserError(f"--aim-repo {args.aim_repo} is no folder: name another, or remove it")
    words = ["--wandb-project", args.wandb_project] if args.wandb_project else []
    return words + (["--aim-repo", str(args.aim_repo.absolute())] if args.aim_repo else [])


def demand_asked(args: argparse.Namespace) -> None:
    for tracker in TRACKERS.values():
        if getattr(args, tracker.option[2:].replace("-", "_")):
            demand(tracker)


def demand_installed(cfg: Any) -> None:
    for name, tracker in TRACKERS.items():
        if cfg.common.get(name):
            demand(tracker)


def demand(tracker: Tracker) -> None:
    from fairseq.logging import progress_bar  # here: --help needs none of it

    option, found, package = tracker
    if vars(progress_bar).get(found) is None:
        raise UserError(
            f"{option} needs a package that is not installed: pip install {package}, or leave it out; if it is there, "
            f"`python -c 'import {package}'` says what it lacks"
        )


def environment(folder: Path) -> Mapping[str, str]:
    """The user's, and what W&B reads: fairseq names every run `checkpoints`, and W&B writes to the current folder."""
    return {"WANDB_NAME": folder.resolve().name, "WANDB_DIR": str(folder.absolute()), **os.environ}
