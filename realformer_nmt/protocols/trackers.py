"""Where else fairseq-train logs to. Where it cannot import what it logs with, fairseq goes on without."""

from typing import Any, NamedTuple

from fairseq.logging import progress_bar

from realformer_nmt.common.errors import UserError


class Tracker(NamedTuple):
    option: str
    found: str  # fairseq's name for what it imported, None where it could not
    package: str


TRACKERS = {  # by fairseq's name
    "tensorboard_logdir": Tracker("--tensorboard", "SummaryWriter", "tensorboard"),
    "wandb_project": Tracker("--wandb-project", "wandb", "wandb"),
    "aim_repo": Tracker("--aim-repo", "get_aim_run", "aim"),
}


def demand_installed(cfg: Any) -> None:
    for name, tracker in TRACKERS.items():
        if cfg.common.get(name):
            demand(tracker)


def demand(tracker: Tracker) -> None:
    option, found, package = tracker
    if vars(progress_bar).get(found) is None:
        raise UserError(
            f"{option} needs a package that is not installed: pip install {package}, or leave it out; if it is there, "
            f"`python -c 'import {package}'` says what it lacks"
        )
