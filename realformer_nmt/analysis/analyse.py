"""`realformer-nmt analyse`: what trained models do inside, beside each other, as a record and as figures."""

import argparse
from pathlib import Path

from realformer_nmt.common.finished import HELP
from realformer_nmt.common.numbers import whole

SENTENCES = 8192  # as many as He et al. look at
EXAMPLE = """examples:
  realformer-nmt analyse runs/pre_ln runs/realformer --output analysis
  realformer-nmt analyse runs/realformer --sentence "A dog runs." --output dog
  realformer-nmt analyse run/average.pt --data data/data-bin --subset test --alignment test.links --output analysis
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads held-out text with trained models and fills a folder: analysis.json, and figures as SVG and PNG. "
        "Attention: entropy of each head, divergence between a head and the one above, where heads look. Depth: "
        "gradients, the stream and its branches, how alike layers are, what is lost without one."
    )
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "models", type=Path, nargs="+", metavar="RUN_OR_CHECKPOINT", help="a run's folder, or a checkpoint (.pt)"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="folder to fill")
    parser.add_argument("--data", type=Path, metavar="DATA-BIN", help="default: the one the model was trained on")
    parser.add_argument("--subset", default="valid", help="part of the data-bin to read (default: valid)")
    parser.add_argument(
        "--sentences",
        type=whole(1),
        default=SENTENCES,
        metavar="N",
        help="read N of them at most (default: %(default)s)",
    )
    parser.add_argument("--alignment", type=Path, metavar="FILE", help="links of words by hand, 0-0 1-2, a line each")
    parser.add_argument("--sentence", metavar="TEXT", help="translate it and draw every head of every layer for it")
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--anew", action="store_true", help=HELP)


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.analysis import folder  # here: --help needs none of it

    return folder.fill(args)
