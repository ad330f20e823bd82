"""Short runs of fairseq's own transformer, which the tests of compatibility share."""

from pathlib import Path
from typing import Any

import torch

SIZE = [
    f"--{side}-{name}={value}"
    for side in ("encoder", "decoder")
    for name, value in {"layers": 1, "embed-dim": 16, "ffn-embed-dim": 16, "attention-heads": 2}.items()
]
TINY = (
    *("--arch", "transformer", *SIZE, "--dropout", 0, "--share-all-embeddings"),
    *("--criterion", "cross_entropy", "--optimizer", "adam", "--lr", 0.01, "--max-tokens", 500, "--num-workers", 0),
    *("--log-format", "simple", "--log-interval", 1),
)


def load(checkpoint: Path) -> dict[str, Any]:
    state: dict[str, Any] = torch.load(checkpoint, weights_only=False)  # our own
    return state


def difference(one: Path, other: Path) -> float:
    """The largest between the parameters of two checkpoints."""
    first, second = (load(path)["model"] for path in (one, other))
    assert first.keys() == second.keys()
    return max((first[name] - second[name]).abs().max().item() for name in first)
