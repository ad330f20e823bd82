"""`realformer-nmt inspect CHECKPOINT`: what it holds, as tables or as JSON."""

import argparse
import json
from pathlib import Path

from tabulate import tabulate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Shows what a checkpoint of this package holds. Nothing in it is run."
    parser.epilog = "example: realformer-nmt inspect run/checkpoints/checkpoint_last.pt"
    parser.add_argument("checkpoint", type=Path, help="a checkpoint file (.pt) of fairseq-train")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.checkpoints.inspection import inspect  # here: --help needs none of it

    found = inspect(args.checkpoint)
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    weights = found.pop("shortcuts")
    print(tabulate(found.items(), tablefmt="plain", intfmt=","), end="\n\n")
    headers = {"sublayer": "shortcut of", "mean": "mean w", "smallest": "smallest", "largest": "largest"}
    print(tabulate(weights, headers=headers, floatfmt=".4f"))
    return 0
