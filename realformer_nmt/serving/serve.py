"""`realformer-nmt serve`: trained models behind HTTP, and a page to try them."""

import argparse
import importlib.util
from dataclasses import fields
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import Number, whole
from realformer_nmt.serving.limits import Limits

EXAMPLE = """examples:
  realformer-nmt serve runs/realformer-18
  realformer-nmt serve runs/post_ln-6 runs/realformer-6 --precision int8 --port 0
"""
PRECISIONS = ("fp32", "bf16", "int8")  # of kernels/precision.py, which imports torch
SUBWORDS = ("sentencepiece", "moses_bpe", "none")  # of corpora/surface.py, which imports much
HYPHENS = ("aggressive", "plain")
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
CORPUS = ("prepared", "data", "subwords", "subwords_folder", "hyphens")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Answers POST /translate, POST /attention, GET /models, GET /health and GET /openapi.json, and shows a page. "
        "Several models are served side by side, each by the name of its folder. Ends when it gets SIGTERM or Ctrl+C, "
        "with what is in work answered."
    )
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder, or a checkpoint (.pt)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    parser.add_argument(
        "--port",
        type=Number(int, 0, 65_535, "0 to 65535"),
        default=8000,
        help="default: %(default)s; 0: any that is free",
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="HOST", help="a further name by which clients may ask for it"
    )
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32", help="of the models (default: %(default)s)")
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    add_corpus(parser)
    group = parser.add_argument_group("limits")
    for each in fields(Limits):
        group.add_argument(
            f"--{each.name.replace('_', '-')}",
            type=whole(1),
            default=each.default,
            metavar="N",
            help=f"{each.metadata['help']} (default: {each.default})",
        )


def add_corpus(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the corpus, if it is not the one that each model was trained on")
    group.add_argument("--prepared", type=Path, metavar="FOLDER", help="folder of `realformer-nmt prepare`")
    group.add_argument("--data", type=Path, metavar="FOLDER", help="data-bin of the trained models")
    group.add_argument("--subwords", choices=SUBWORDS, help="how the data-bin was split into subwords")
    group.add_argument("--subwords-folder", type=Path, metavar="FOLDER", help="folder with the subword model")
    group.add_argument("--hyphens", choices=HYPHENS, help="for moses_bpe: how the tokeniser treated hyphens")


def run(args: argparse.Namespace) -> int:
    limits = limits_of(args)
    demand_installed()
    from realformer_nmt.serving import interface, served, server  # here: --help needs none of it
    from realformer_nmt.serving.batching import Batches

    with server.bound(args.host, args.port) as listening:
        corpus = {name: getattr(args, name) for name in CORPUS}
        models = served.serve(args.runs, args.precision, cpu=args.cpu, **corpus)
        batches = Batches(limits.most_waiting)
        hosts = [*OWN_NAMES, server.in_address(args.host), *args.name]
        ours = server.made(interface.interface(models, batches, limits, hosts), limits.most_seconds)
        listening.listen()  # whoever reads the address can ask
        print(f"{', '.join(models)}: {server.address(args.host, listening)}", flush=True)
        server.run(ours, listening)
        batches.close()
    return 0


def limits_of(args: argparse.Namespace) -> Limits:
    return Limits(**{each.name: getattr(args, each.name) for each in fields(Limits)})


def demand_installed() -> None:
    for name in ("fastapi", "uvicorn"):
        if importlib.util.find_spec(name) is None:
            raise UserError(f"serve needs {name}: pip install 'realformer-nmt[serve]'")
