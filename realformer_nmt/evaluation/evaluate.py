"""`realformer-nmt evaluate`: what a model of any task loses on a subset, and the record of it."""

import argparse
from pathlib import Path

from realformer_nmt.checkpoints import run as run_files
from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.numbers import SEED, whole

EXAMPLE = "example: realformer-nmt evaluate lm/checkpoint_last.pt --data data-bin --output lm/test.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Measures a model as its training validates it: loss in bits, and perplexity or accuracy where its task has "
        "them, scores with their intervals, and a row for each sequence, sentence or question in a table beside the "
        "record. For language models, masked ones, those that fill in spans, classifiers and models that answer "
        "questions; for translations there are `translate` and `score`."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("checkpoint", type=run_files.named, help="a checkpoint, or a run's folder")
    parser.add_argument("--data", type=Path, required=True, metavar="DATA-BIN", help="of fairseq-preprocess")
    parser.add_argument("--subset", default="test", help="part of the data-bin (default: test)")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.JSON", help="the record")
    parser.add_argument("--validate", action="store_true", help="measure the subset valid, too")
    parser.add_argument(
        "--mask-seed", type=SEED, metavar="N", help="mask words as a training of this --seed does (default: its own)"
    )
    parser.add_argument("--max-tokens", type=whole(1), metavar="N", help="tokens in a batch (default: the training's)")
    parser.add_argument("--batch-size", type=whole(1), metavar="N", help="sentences in a batch, at most")
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--anew", action="store_true", help=HELP)


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.evaluation import measures  # here: --help needs none of it

    return measures.run(args)


def asked(args: argparse.Namespace) -> Stage:
    from realformer_nmt.evaluation import measures

    return measures.asked(args)
