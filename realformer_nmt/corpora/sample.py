"""`realformer-nmt sample`: a prepared corpus with a share of its training pairs."""

import argparse
from pathlib import Path

from realformer_nmt.common.numbers import FRACTION

EXAMPLE = "example: realformer-nmt sample data/wmt14_en_de --share 0.25 --folder data/quarter"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Copies a folder of `realformer-nmt prepare` with a share of its training pairs, evenly spread over all of "
        "them. A smaller share is part of a larger one; subwords, dictionaries, validation and test sets are the same."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("prepared", type=Path, metavar="PREPARED", help="the folder of `realformer-nmt prepare`")
    parser.add_argument("--share", type=FRACTION, required=True, metavar="S", help="of the pairs: above 0, below 1")
    parser.add_argument("--folder", type=Path, required=True, help="the folder to make")


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.corpora import sampling  # here: --help needs none of it

    return sampling.run(args)
