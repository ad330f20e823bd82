"""`realformer-nmt train`: fairseq-train by a protocol, on the machine at hand, gone on with where it was killed."""

import argparse
from pathlib import Path

from realformer_nmt.checkpoints.run import named
from realformer_nmt.common.finished import Stage
from realformer_nmt.common.numbers import SEED, whole
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.protocols import command, trackers
from realformer_nmt.protocols.protocol import shipped
from realformer_nmt.protocols.run_files import CURVES

EXAMPLES = """examples:
  realformer-nmt train --data data/data-bin --arch realformer --layers 18 --folder run
  realformer-nmt train --data data/data-bin --arch realformer --layers 60-12 --folder run --gpus 8 --dry-run
  realformer-nmt train --data data/data-bin --arch admin --layers 2 --protocol small --folder try -- --dropout 0.3
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Trains with fairseq-train in FOLDER/checkpoints, by a protocol whose tokens a step are kept on any number of "
        "GPUs. The same command goes on after an interruption, and does nothing once all is trained."
    )
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, required=True, help="the data-bin that `realformer-nmt prepare` has made")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where checkpoints/, train.log and train.json are written"
    )
    parser.add_argument("--arch", required=True, metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--kind", help="of a masked model: bert, or etc, for long texts (default: the protocol's)")
    parser.add_argument("--layers", required=True, metavar="N|N-M", help="layers of encoder and decoder: 18, or 60-12")
    add_beginning(parser)
    parser.add_argument("--protocol", default="realformer", help=f"{', '.join(shipped())}, or your own FILE.toml")
    parser.add_argument(
        "--corpus", metavar="NAME", help="use the protocol's settings for it (default: as in prepare.json)"
    )
    parser.add_argument(
        "--subwords", choices=command.DETOKENISERS, help="how the data-bin was split (default: as in prepare.json)"
    )
    add_batch(parser)
    add_length(parser)
    parser.add_argument("--seed", type=SEED, metavar="N", help="default: the protocol's")
    parser.add_argument(
        "--precision",
        choices=command.PRECISIONS,
        help="default: fp16 on GPUs, fp32 on a CPU; auto: the same, but bf16 on a CPU that has the instructions",
    )
    parser.add_argument(
        "--bf16", dest="precision", action="store_const", const="bf16", help="the same as --precision bf16"
    )
    parser.add_argument("--curves", action="store_true", help=f"write learning curves to FOLDER/{CURVES}")
    trackers.add_arguments(parser)
    parser.add_argument("--anew", action="store_true", help="move the run in FOLDER aside, and train again")
    parser.add_argument("--dry-run", action="store_true", help="print fairseq-train's command, ready to paste")
    parser.add_argument(
        "flags", nargs="*", metavar="-- FLAG", help="flags of fairseq-train; they override the protocol's"
    )


def add_beginning(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="begin_with",
        type=named,
        metavar="RUN",
        help="begin with the weights of this run's folder or checkpoint, trained on data like these (`prepare --like`)",
    )
    parser.add_argument(
        "--carry-embeddings",
        type=Path,
        metavar="DATA-BIN",
        help="with --from, for data of another vocabulary: take over the embeddings of the pieces that both have; "
        "DATA-BIN has RUN's dictionaries",
    )


def add_batch(parser: argparse.ArgumentParser) -> None:
    batch = parser.add_argument_group("the machine and the batch")
    batch.add_argument("--gpus", type=whole(0), metavar="N", help="GPUs of each machine (default: all); 0: the CPU")
    batch.add_argument("--nodes", type=whole(1), default=1, metavar="N", help="machines; run the same command on each")
    batch.add_argument("--node-rank", type=whole(0), default=0, metavar="N", help="number of this machine, from 0")
    batch.add_argument("--master", metavar="HOST:PORT", help="the machine of rank 0, and a port that is free there")
    batch.add_argument(
        "--max-tokens", type=whole(1), metavar="N", help="tokens that one GPU takes at once (default: the protocol's)"
    )
    batch.add_argument("--tokens-a-step", type=whole(1), metavar="N", help="default: the protocol's")


def add_length(parser: argparse.ArgumentParser) -> None:
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=whole(1), metavar="N", help="default: the protocol's")
    length.add_argument("--updates", type=whole(1), metavar="N", help="default: the protocol's")
    parser.add_argument(
        "--average", type=whole(1), metavar="N", help="checkpoints to keep and average later (default: the protocol's)"
    )


def run(args: argparse.Namespace) -> int:
    from realformer_nmt.protocols import training  # here: --help needs none of it

    return training.run(args)


def asked(args: argparse.Namespace) -> Stage:
    from realformer_nmt.protocols import training

    return training.asked(args)
