"""`realformer-nmt answer`: of each question the span of its context that a model takes for the answer."""

import argparse
from pathlib import Path

from realformer_nmt.checkpoints import run as run_files
from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.numbers import FINITE, whole

EXAMPLE = "example: realformer-nmt answer answers/checkpoint_best.pt --questions dev-v1.1.json --output answers/dev"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Answers questions in SQuAD's format by a model of --task question_answering."
    parser.epilog = EXAMPLE
    parser.add_argument("checkpoint", type=run_files.named, help="a checkpoint, or a run's folder")
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE.JSON", help="in SQuAD's format")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="of answers.json and the record")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="dictionary and subwords (default: the training's)")
    parser.add_argument("--longest", type=whole(1), default=30, metavar="N", help="tokens of an answer (default: 30)")
    parser.add_argument(
        "--no-answer",
        type=FINITE,
        metavar="X",
        help="answer nothing where that scores more than X above the best answer; 0 for SQuAD 2.0 (default: never)",
    )
    parser.add_argument("--batch-size", type=whole(1), default=16, metavar="N", help="windows in a batch (default: 16)")
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--anew", action="store_true", help=HELP)


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.evaluation import answering  # here: --help needs none of it

    return answering.run(args)


def asked(args: argparse.Namespace) -> Stage:
    from realformer_nmt.evaluation import answering

    return answering.asked(args)
