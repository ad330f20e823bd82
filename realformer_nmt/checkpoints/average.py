"""`realformer-nmt average`: one checkpoint whose weights are the mean of several."""

import argparse
from pathlib import Path

from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.numbers import whole

EXAMPLE = "example: realformer-nmt average checkpoints --last 25 --output checkpoints/average.pt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Averages the weights of checkpoints of one run; fairseq's commands read the result."
    parser.epilog = EXAMPLE
    parser.add_argument(
        "inputs", type=Path, nargs="+", metavar="PATH", help="a folder of checkpoints, or checkpoint files"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--last", type=whole(1), metavar="N", help="the last N states: the end of the training, ends of epochs"
    )
    which.add_argument(
        "--last-updates", type=whole(1), metavar="N", help="the last N of --save-interval-updates, and the end"
    )
    which.add_argument("--best", type=whole(1), metavar="N", help="the best N of --keep-best-checkpoints")
    parser.add_argument(
        "--until", type=whole(1), metavar="N", help="with --last, --last-updates: nothing after epoch, update N"
    )
    parser.add_argument("--output", type=Path, required=True, help="the checkpoint to write; OUTPUT.json is its record")
    parser.add_argument("--anew", action="store_true", help=HELP)


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.checkpoints import averaging  # here: --help needs none of it

    return averaging.run(args)


def asked(args: argparse.Namespace) -> Stage:
    from realformer_nmt.checkpoints import averaging

    return averaging.asked(args)
