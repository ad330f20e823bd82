"""`realformer-nmt inspect CHECKPOINT`: a checkpoint's settings and shortcuts, as tables or as JSON."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from msgspec import to_builtins
from tabulate import tabulate

from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request


@dataclass(frozen=True, kw_only=True)
class InspectRequest(Request):
    """Show what a checkpoint of this package holds. Nothing in it is run."""

    subcommand: ClassVar[str] = "inspect"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = "example: realformer-nmt inspect run/checkpoints/checkpoint_last.pt"

    checkpoint: Path = argument("a checkpoint file (.pt) of fairseq-train")
    json: bool = option("print a JSON object", False)


REQUEST = InspectRequest


def run(request: InspectRequest) -> int:
    from realformer_nmt.checkpoints.inspection import inspect  # late: --help does not need it

    report = to_builtins(inspect(request.checkpoint))
    if request.json:
        print(json.dumps(report, indent=2))
        return 0
    weights = report.pop("shortcuts")
    print(tabulate(report.items(), tablefmt="plain", intfmt=","), end="\n\n")
    headers = {"sublayer": "shortcut of", "mean": "mean w", "smallest": "smallest", "largest": "largest"}
    print(tabulate(weights, headers=headers, floatfmt=".4f"))
    return 0
