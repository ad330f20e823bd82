"""`realformer-nmt export`: a trained model in the form that other programs read."""

import argparse
import importlib
import importlib.util
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.whole_folders import completed_folder, demand_free

EXAMPLE = """examples:
  realformer-nmt export runs/admin-18 --to fairseq --output plain
  realformer-nmt export run/average.pt --prepared data --to fairseq --output plain
  realformer-nmt export runs/admin-18 --to ctranslate2 --precision int8 --output quick
  realformer-nmt export runs/realformer-18 --to onnx --output graphs
"""


EXACT = "fp32"


class Target(NamedTuple):
    what: str
    module: str  # with write(source, folder, precision)
    packages: tuple[str, ...] = ()  # of the extra of the target's name
    precisions: tuple[str, ...] = (EXACT,)


TARGETS = {
    "fairseq": Target("a checkpoint of fairseq's own transformer", "realformer_nmt.exporting.stock"),
    "ctranslate2": Target(
        "a model of CTranslate2", "realformer_nmt.exporting.ctranslate2_model", ("ctranslate2",), (EXACT, "int8")
    ),
    "onnx": Target(
        "graphs of ONNX, and a program that translates by them without torch",
        "realformer_nmt.exporting.onnx_graphs",
        ("onnx", "onnxruntime"),
        (EXACT, "int8"),
    ),
    "torch": Target(
        "graphs of torch.export, and a program that translates by them with torch alone",
        "realformer_nmt.exporting.torch_graphs",
    ),
    "huggingface": Target(
        "a Marian model of transformers, with its tokenizer and a model card",
        "realformer_nmt.exporting.marian",
        ("safetensors",),
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Fills a folder with a model, its dictionaries and subwords: all of it, or nothing."
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "model", type=Path, metavar="RUN_OR_CHECKPOINT", help="a run's folder, or a checkpoint (.pt) of this package"
    )
    targets = "; ".join(f"{name}: {target.what}" for name, target in TARGETS.items())
    parser.add_argument("--to", required=True, choices=TARGETS, help=targets)
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="a folder that is not there yet")
    parser.add_argument("--precision", default=EXACT, help="of the weights: fp32 (default), or int8 where there is one")
    group = parser.add_argument_group("the corpus, where it is not the one that the model was trained on, in its place")
    group.add_argument("--prepared", type=Path, metavar="FOLDER", help="folder of `realformer-nmt prepare`")
    group.add_argument("--data", type=Path, metavar="DATA-BIN", help="data-bin that `prepare` has not made")
    group.add_argument("--subwords", metavar="HOW", help="with --data: sentencepiece, moses_bpe or none")
    group.add_argument("--subwords-folder", type=Path, metavar="FOLDER", help="with --data: folder of their model")
    group.add_argument("--hyphens", metavar="HOW", help="with --data and moses_bpe: aggressive or plain")


def run(args: argparse.Namespace) -> int:
    target = TARGETS[args.to]
    demand_packages(args.to, target)
    demand_precision(args.to, target, args.precision)
    demand_free(args.output)
    from realformer_nmt.exporting import source  # here: --help needs none of it

    found = source.load(args)
    with completed_folder(args.output) as folder:
        importlib.import_module(target.module).write(found, folder, args.precision)
        found.record({"to": args.to, "precision": args.precision}, folder)
    print(f"{args.output}: {found.path} as {target.what}")
    return 0


def demand_packages(name: str, target: Target) -> None:
    missing = [package for package in target.packages if importlib.util.find_spec(package) is None]
    if missing:
        raise UserError(f"--to {name} needs {' and '.join(missing)}: pip install 'realformer-nmt[{name}]'")


def demand_precision(name: str, target: Target, given: str) -> None:
    if given not in target.precisions:
        raise UserError(f"--precision {given} is not one of --to {name}'s: {', '.join(target.precisions)}")
