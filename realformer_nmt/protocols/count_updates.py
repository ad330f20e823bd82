"""`realformer-nmt updates`: how many updates a training will make."""

import argparse
from pathlib import Path

from realformer_nmt.common.numbers import whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints how many updates fairseq-train makes in so many epochs of a data-bin."
    parser.epilog = "example: realformer-nmt updates data-bin --gpus 4 --max-tokens 8192 --update-freq 1 --epochs 50"
    parser.add_argument("data", type=Path, help="the data-bin")
    parser.add_argument(
        "--gpus", type=whole(1), default=1, metavar="N", help="GPUs of all machines together (default: 1)"
    )
    parser.add_argument(
        "--max-tokens", type=whole(1), required=True, metavar="N", help="tokens that one GPU takes at once"
    )
    parser.add_argument("--update-freq", type=whole(1), default=1, metavar="N")
    parser.add_argument("--epochs", type=whole(1), required=True, metavar="N")


def run(args: argparse.Namespace) -> int:
    given = {"max-tokens": args.max_tokens, "update-freq": args.update_freq, "max-epoch": args.epochs}
    words = [word for flag, value in given.items() for word in (f"--{flag}", str(value))]
    from realformer_nmt.protocols.updates import length, parse  # here: --help needs none of it

    print(length(parse([str(args.data), "--arch", "realformer", *words]), args.gpus).updates)
    return 0
