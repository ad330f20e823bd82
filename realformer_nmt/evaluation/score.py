"""`realformer-nmt score`: a translation against the raw reference, and run.json, which holds all there is to know."""

import argparse
from pathlib import Path

from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.numbers import SAMPLES, SEEDS, whole

FEWEST = 40  # samples, of which one is in each of the tails of 2.5 %
COMET = "Unbabel/wmt22-comet-da"
EXAMPLE = "example: realformer-nmt score run/test --training run/train.json --output run/run.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Scores a folder of `realformer-nmt translate` in every metric that its text allows."
    parser.epilog = EXAMPLE
    parser.add_argument(
        "translation", type=Path, metavar="FOLDER", help="the folder that `realformer-nmt translate` has filled"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="RUN.JSON")
    reference = parser.add_mutually_exclusive_group()
    reference.add_argument("--reference", type=Path, metavar="FILE", help="raw reference (default: the corpus's)")
    reference.add_argument(
        "--test-set", metavar="NAME", help="sacreBLEU's, whose source was translated (default: as `translate` noted)"
    )
    parser.add_argument("--source", type=Path, metavar="FILE", help="raw source, for COMET (default: the corpus's)")
    parser.add_argument("--compound-split", action="store_true", help="end with an error if this score is not possible")
    parser.add_argument("--rouge", action="store_true", help="the texts are summaries: compute ROUGE-1, 2 and L too")
    parser.add_argument(
        "--comet", nargs="?", const=COMET, metavar="MODEL", help=f"compute COMET too (default model: {COMET})"
    )
    parser.add_argument(
        "--bootstrap",
        type=whole(FEWEST, SAMPLES, none=0),
        default=1000,
        metavar="N",
        help="samples for the intervals, 40 or more; 0: no intervals",
    )
    parser.add_argument("--seed", type=whole(1, SEEDS), default=12345, metavar="N", help="seed of the bootstrap")
    parser.add_argument("--published", metavar="DATASET", help="show its published figures (default: the corpus)")
    parser.add_argument("--training", type=Path, metavar="TRAIN.JSON", help="the train.json of `realformer-nmt train`")
    parser.add_argument("--anew", action="store_true", help=HELP)


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.evaluation import scoring  # here: --help needs none of it

    return scoring.run(args)


def asked(args: argparse.Namespace) -> Stage:
    from realformer_nmt.evaluation import scoring

    return scoring.asked(args)
