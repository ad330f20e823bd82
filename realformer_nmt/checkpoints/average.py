"""`realformer-nmt average`: one checkpoint whose weights are the mean of several."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.numbers import whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, StageRequest


@dataclass(frozen=True, kw_only=True)
class AverageRequest(StageRequest):
    """Average the weights of checkpoints of one run; fairseq's commands read the result."""

    subcommand: ClassVar[str] = "average"
    implementation: ClassVar[str] = "realformer_nmt.checkpoints.averaging"
    examples: ClassVar[str] = "example: realformer-nmt average checkpoints --last 25 --output checkpoints/average.pt"

    inputs: tuple[Path, ...] = argument("a folder of checkpoints, or checkpoint files", metavar="PATH")
    last: int | None = option(
        "the last N states: the end of the training, ends of epochs", None, metavar="N", either="which", range=whole(1)
    )
    last_updates: int | None = option(
        "the last N of --save-interval-updates, and the end", None, metavar="N", either="which", range=whole(1)
    )
    best: int | None = option(
        "the best N of --keep-best-checkpoints", None, metavar="N", either="which", range=whole(1)
    )
    until: int | None = option(
        "with --last: the last epoch to use; with --last-updates: the last update", None, metavar="N", range=whole(1)
    )
    output: Path = option("the checkpoint to write; OUTPUT.json is its record")
    fresh: bool = option(HELP, False)


REQUEST = AverageRequest
