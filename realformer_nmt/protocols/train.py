"""`realformer-nmt train`: fairseq-train by a protocol, on the machine at hand, gone on with where it was killed."""

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from realformer_nmt.checkpoints.run import named
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import Stage
from realformer_nmt.fairseq_patches.option_ranges import check_training
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.model import read_options
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.protocols import command, composition, origin, settings, states, trackers, updates
from realformer_nmt.protocols.command import Machines
from realformer_nmt.protocols.protocol import Protocol, shipped
from realformer_nmt.protocols.run_files import CURVES, RECORD
from realformer_nmt.protocols.session import Training

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
    parser.add_argument("--layers", required=True, metavar="N|N-M", help="layers of encoder and decoder: 18, or 60-12")
    parser.add_argument(
        "--from",
        dest="begin_with",
        type=named,
        metavar="RUN",
        help="begin with the weights of this run's folder or checkpoint, trained on data like these (`prepare --like`)",
    )
    parser.add_argument("--protocol", default="realformer", help=f"{', '.join(shipped())}, or your own FILE.toml")
    parser.add_argument(
        "--corpus", metavar="NAME", help="use the protocol's settings for it (default: as in prepare.json)"
    )
    parser.add_argument(
        "--subwords", choices=command.DETOKENISERS, help="how the data-bin was split (default: as in prepare.json)"
    )
    add_batch(parser)
    add_length(parser)
    parser.add_argument("--seed", type=int, metavar="N", help="default: the protocol's")
    parser.add_argument(
        "--precision",
        choices=command.PRECISIONS,
        help="default: fp16 on GPUs, fp32 on a CPU; auto: the same, but bf16 on a CPU that has the instructions",
    )
    parser.add_argument(
        "--bf16", dest="precision", action="store_const", const="bf16", help="the same as --precision bf16"
    )
    parser.add_argument("--curves", action="store_true", help=f"write learning curves to FOLDER/{CURVES}")
    parser.add_argument("--tensorboard", action="store_true", help="log to FOLDER/tensorboard")
    parser.add_argument("--anew", action="store_true", help="move the run in FOLDER aside, and train again")
    parser.add_argument("--dry-run", action="store_true", help="print fairseq-train's command, ready to paste")
    parser.add_argument(
        "flags", nargs="*", metavar="-- FLAG", help="flags of fairseq-train; they override the protocol's"
    )


def add_batch(parser: argparse.ArgumentParser) -> None:
    batch = parser.add_argument_group("the machine and the batch")
    batch.add_argument("--gpus", type=int, metavar="N", help="GPUs of each machine (default: all); 0: the CPU")
    batch.add_argument("--nodes", type=int, default=1, metavar="N", help="machines; run the same command on each")
    batch.add_argument("--node-rank", type=int, default=0, metavar="N", help="number of this machine, from 0")
    batch.add_argument("--master", metavar="HOST:PORT", help="the machine of rank 0, and a port that is free there")
    batch.add_argument(
        "--max-tokens", type=int, metavar="N", help="tokens that one GPU takes at once (default: the protocol's)"
    )
    batch.add_argument("--tokens-a-step", type=int, metavar="N", help="default: the protocol's")


def add_length(parser: argparse.ArgumentParser) -> None:
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=int, metavar="N", help="default: the protocol's")
    length.add_argument("--updates", type=int, metavar="N", help="default: the protocol's")
    parser.add_argument(
        "--average", type=int, metavar="N", help="checkpoints to keep and average later (default: the protocol's)"
    )


def run(args: argparse.Namespace) -> int:
    if args.dry_run:
        words = composition.fairseq_train(args)
        print(command.pasted(["mkdir", "-p", str(args.folder.absolute())]))  # fairseq makes no folder for its log
        print(command.pasted(words))
        prepared = composition.preparation(args)
        announce(args, composition.load_protocol(args, prepared), prepared)
        return 0
    demand_beginning(args)
    prepared = composition.preparation(args)
    protocol = composition.load_protocol(args, prepared)
    machines = composition.find_machines(args)
    words = composition.compose(args, protocol, machines, prepared)
    cfg = updates.parse(words)
    trackers.demand_installed(cfg)
    validate(read_options(TranslationConfig, cfg.model))
    stage = of_options(args, cfg, machines)
    if stage.finished(args.anew):
        return 0
    present = torch.cuda.device_count()
    if machines.gpus > present:
        raise UserError(f"--gpus {machines.gpus}, but this machine has {present}: pass --gpus {present}, or --dry-run")
    check_training(cfg)
    announce(args, protocol, prepared)
    if not machines.gpus:
        print("training on the CPU: no GPU is used", file=sys.stderr)
    length = updates.length(cfg, machines.ranks)
    states.demand(protocol, cfg, length)
    content = {**summary(args, protocol, machines, length), "words": words}
    training = Training(stage, content, machines, args.anew)
    return training.run([*machines.launcher(), *words, *composition.ending(args, words, machines, length.updates)])


def demand_beginning(args: argparse.Namespace) -> None:
    if args.begin_with and args.folder.resolve() in args.begin_with.resolve().parents:
        raise UserError(f"--from {args.begin_with} lies in --folder {args.folder}: train on in a folder of its own")


def announce(args: argparse.Namespace, protocol: Protocol, prepared: dict[str, Any]) -> None:
    print(origin.line(protocol, args.arch, prepared["corpus"], args.layers), file=sys.stderr)


def asked(args: argparse.Namespace) -> Stage:
    """The same words of this version took the same effect: fairseq reads them only once."""
    prepared, machines = composition.preparation(args), composition.find_machines(args)
    words = composition.compose(args, composition.load_protocol(args, prepared), machines, prepared)
    known = settings.known(args.folder / RECORD, words)
    if known is None:
        return of_options(args, updates.parse(words), machines)
    return Stage(args.folder / RECORD, known, settings.files(str(args.data), known), lasting=False)


def of_options(args: argparse.Namespace, cfg: Any, machines: Machines) -> Stage:
    """The checkpoints may be removed once they are averaged."""
    made = settings.settings(cfg, machines.ranks, args.precision or "as the device allows")
    return Stage(args.folder / RECORD, made, settings.inputs(cfg), lasting=False)


def demand_states(args: argparse.Namespace) -> None:
    """That what is to be averaged will be there, asked before anything is trained."""
    prepared, machines = composition.preparation(args), composition.find_machines(args)
    protocol = composition.load_protocol(args, prepared)
    cfg = updates.parse(composition.compose(args, protocol, machines, prepared))
    states.demand(protocol, cfg, updates.length(cfg, machines.ranks))


def summary(args: argparse.Namespace, protocol: Protocol, machines: Machines, length: updates.Length) -> dict[str, Any]:
    tokens = args.tokens_a_step or protocol.tokens_a_step
    encoder, decoder = command.layers(args.layers)
    return {
        "protocol": protocol.name,
        "arch": args.arch,
        "layers": [encoder, decoder],
        "tokens_a_step": tokens,
        "epochs": protocol.epochs,
        "flags": args.flags,
        "average": protocol.averaging,
        "decoding": protocol.decoding,
        "settings": protocol.train,
        "updates": length.updates,
        "updates_an_epoch": length.an_epoch,
        "gpus": machines.gpus * machines.nodes,
        "machines": machines.nodes,
        "device": torch.cuda.get_device_name(0) if machines.gpus else "CPU",
        "precision": command.precision_of(machines, args.precision),
    }
