"""The options of the runs, and the checkpoints that they leave."""

from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

LETTERS = list("abcde")
SENTENCES = {"train": 3000, "valid": 203, "test": 61}
LANGUAGES = ("--source-lang", "src", "--target-lang", "tgt")
UPDATES = 200
COMMON = (
    *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--lr", 5e-3),
    *("--lr-scheduler", "linear", "--warmup-updates", 100, "--total-num-update", 400),
    *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1, "--dropout", 0.05),
    *("--max-tokens", 350, "--cpu", "--num-workers", 0, "--seed", 1, "--log-format", "simple", "--log-interval", 10),
)
# Five letters, short sentences, words no louder than their places, little noise: every family learns with room to spare
LEARNING = (
    *("--lr", 4e-3, "--warmup-updates", 30, "--total-num-update", UPDATES, "--max-update", UPDATES),
    *("--no-scale-embedding", "--dropout", 0.02, "--max-tokens", 300),
)
GENTLE = ("--lr", 3e-3, "--warmup-updates", 100)
OWN_RATES: dict[str, tuple[object, ...]] = {  # of families that do not learn in 200 updates at the rate of the others
    "hybrid_norm": GENTLE,
    "laurel": GENTLE,
    "lazy": ("--lr", 2e-3),
    "res_post": GENTLE,
    "rezero": ("--lr", 8e-3),
    "span_norm": GENTLE,
    "sub_ln": GENTLE,
}
TRAINING = ("--task", "translation", *LANGUAGES, *COMMON)


def load(checkpoint: Path) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = load_state(checkpoint)["model"]
    return weights


def load_state(checkpoint: Path) -> dict[str, Any]:
    """All of it: weights and plain values, and of a model without a dataclass the options in a namespace."""
    torch.serialization.add_safe_globals([Namespace])  # a context would take it from the package too when it ends
    state: dict[str, Any] = torch.load(checkpoint, weights_only=False)  # our own
    return state


def at_update(folder: Path, update: int) -> Path:
    (checkpoint,) = folder.glob(f"checkpoint_*_{update}.pt")
    return checkpoint


def average(checkpoints: list[Path], to: Path) -> Path:
    """The mean of the weights, and everything else of the last checkpoint."""
    state = load_state(checkpoints[-1])
    models = [load(checkpoint) for checkpoint in checkpoints]
    state["model"] = {name: torch.stack([model[name] for model in models]).mean(0) for name in state["model"]}
    torch.save(state, to)
    return to


class Compose(Protocol):
    def __call__(self, path: Path | str, *options: object) -> list[str]: ...


class Trained(NamedTuple):
    """A run that was killed and resumed: its checkpoints, the mean of the last two, and the two logs."""

    folder: Path
    average: Path
    killed: str
    resumed: str


def family_options(family: str) -> tuple[object, ...]:
    saving = ("--save-interval", 1000, "--save-interval-updates", 40, "--disable-validation")
    shape = ("--arch", f"{family}_tiny", "--share-all-embeddings", "--score-length", 16)
    return (*shape, *LEARNING, *OWN_RATES.get(family, ()), "--update-epoch-batch-itr", 1, *saving)
