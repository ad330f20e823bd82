"""Where else fairseq-train logs to. Where the package for it is missing, fairseq goes on without."""

import importlib.util
from typing import Any, NamedTuple

from realformer_nmt.common.errors import UserError


class Tracker(NamedTuple):
    option: str
    packages: tuple[str, ...]  # one of them is enough


TRACKERS = {  # by fairseq's name
    "tensorboard_logdir": Tracker("--tensorboard", ("tensorboard", "tensorboardX")),
    "wandb_project": Tracker("--wandb-project", ("wandb",)),
    "aim_repo": Tracker("--aim-repo", ("aim",)),
}


def demand_installed(cfg: Any) -> None:
    for name, tracker in TRACKERS.items():
        if cfg.common.get(name):
            demand(tracker)


def demand(tracker: Tracker) -> None:
    option, packages = tracker
    if not any(map(importlib.util.find_spec, packages)):
        raise UserError(f"{option} needs a package that is not installed: pip install {packages[0]}, or leave it out")
