"""`realformer-nmt updates`: how many updates a training will make."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.numbers import whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.protocols.command import flags


@dataclass(frozen=True, kw_only=True)
class UpdatesRequest(Request):
    """Print how many updates fairseq-train makes in so many epochs of a data-bin."""

    subcommand: ClassVar[str] = "updates"
    examples: ClassVar[str] = (
        "example: realformer-nmt updates data-bin --gpus 4 --max-tokens 8192 --update-freq 1 --epochs 50"
    )

    data: Path = argument("the data-bin")
    gpus: int = option("GPUs of all machines together (default: 1)", 1, metavar="N", range=whole(1))
    max_tokens: int = option("tokens that one GPU takes at once", metavar="N", range=whole(1))
    update_freq: int = option("batches of each GPU in an update (default: 1)", 1, metavar="N", range=whole(1))
    epochs: int = option("passes over the training data", metavar="N", range=whole(1))
    flags: tuple[str, ...] = argument(
        "flags of fairseq-train that change its batches, such as --batch-size 32", (), metavar="-- FLAG", last=True
    )

    def run(self) -> int:
        from realformer_nmt.protocols.running import updates  # slow to import, and not needed for --help

        sizes = {"max-tokens": self.max_tokens, "update-freq": self.update_freq, "max-epoch": self.epochs}
        argv = [str(self.data), "--arch", "realformer", *flags(sizes), *self.flags]
        cfg = updates.parse(argv)
        print(updates.length(cfg, updates.set_up(cfg), self.gpus).updates)
        return 0


REQUEST = UpdatesRequest
