"""`realformer-nmt translate`: a hypothesis for every source line, in the order of the source."""

import argparse
from pathlib import Path

from realformer_nmt.checkpoints import run as run_files
from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.numbers import LENPEN, MAX_LEN_A, MAX_LEN_B, MOST_BEAM, PROCESSES, whole
from realformer_nmt.corpora import preparation
from realformer_nmt.evaluation.streams import streaming
from realformer_nmt.evaluation.translation_files import HYPOTHESES, RECORD, REFERENCE, TOKENISED

PRECISIONS = ("fp32", "bf16", "int8")  # of kernels/precision.py, which imports torch
EXACT = "fp32"  # which records do not name
EXAMPLE = """example:
  realformer-nmt translate run/average.pt --prepared data/wmt14_en_de --beam 4 --lenpen 0.6 --output run/test
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Fills a folder: {HYPOTHESES}, raw text, a line for each source line (an empty one for an empty source); "
        f"{TOKENISED} and {REFERENCE}, without subwords, where the text is tokenised; {RECORD}, how they were made."
    )
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "checkpoints",
        type=run_files.named,
        nargs="+",
        metavar="CHECKPOINT",
        help="a checkpoint, or a run's folder; several are used as an ensemble",
    )
    preparation.add_arguments(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--subset", default="test", help="part of the data-bin to translate (default: test)")
    what.add_argument(
        "--input", type=Path, metavar="FILE", help="translate this raw text instead; FILE.gz works too, - is stdin"
    )
    what.add_argument("--test-set", metavar="NAME", help="translate sacreBLEU's instead, such as wmt24")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="folder to fill; - prints the hypotheses on stdout"
    )
    parser.add_argument("--validate", action="store_true", help="also note loss and greedy BLEU on the validation data")
    parser.add_argument("--anew", action="store_true", help=HELP)
    group = parser.add_argument_group("decoding, with fairseq-generate's defaults")
    group.add_argument("--beam", type=whole(1, MOST_BEAM), default=5)
    group.add_argument("--lenpen", type=LENPEN, default=1.0, help="length penalty; below 1: shorter, above 1: longer")
    group.add_argument("--max-len-a", type=MAX_LEN_A, default=0.0, help="at most a * source length + b tokens")
    group.add_argument("--max-len-b", type=MAX_LEN_B, default=200)
    group.add_argument("--max-tokens", type=whole(1), help="tokens in a batch (default: 12000)")
    group.add_argument("--batch-size", type=whole(1), help="sentences in a batch, at most")
    half = group.add_mutually_exclusive_group()
    half.add_argument("--fp16", action="store_true")
    half.add_argument("--bf16", action="store_true")
    half.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=EXACT,
        help="of products with weights on a CPU; bf16 and int8 are faster where the processor has them (default: fp32)",
    )
    group.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    group.add_argument(
        "--jobs",
        type=whole(1, PROCESSES),
        default=1,
        metavar="N",
        help="processes on a CPU, each with its share of the cores (default: 1)",
    )


@streaming(HYPOTHESES)
def run(args: argparse.Namespace) -> int:
    from realformer_nmt.evaluation import translation  # here: --help needs none of it

    return translation.run(args)


def asked(args: argparse.Namespace) -> Stage:
    from realformer_nmt.evaluation import translation

    return translation.asked(args)
