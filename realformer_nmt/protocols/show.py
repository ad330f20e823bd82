"""`realformer-nmt protocol NAME`: what a protocol says, as a table or as options for the next commands."""

import argparse

from tabulate import tabulate

from realformer_nmt.common.choices import unknown
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import manifest
from realformer_nmt.protocols.protocol import Protocol, corpora, load, shipped
from realformer_nmt.protocols.tasks import TASKS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Shows a protocol, or the options that it gives to `realformer-nmt average` and `translate`."
    parser.epilog = "example: realformer-nmt protocol realformer --corpus wmt14_en_fr --layers 60-12"
    parser.add_argument("protocol", help=f"{', '.join(shipped())}, or your own FILE.toml")
    parser.add_argument("--corpus", metavar="CORPUS", help="show the settings for this corpus, a name or FILE.toml")
    parser.add_argument("--layers", metavar="N|N-M", help="show the settings for this depth")
    parser.add_argument(
        "--options",
        action="store_true",
        help="print lines for a script: options of average, options of translate, the seed",
    )


def run(args: argparse.Namespace) -> int:
    protocol = load(args.protocol, corpus(args), args.layers)
    if args.layers is not None:
        from realformer_nmt.protocols.command import layers  # here: --help needs none of it

        layers(args.layers, TASKS[protocol.task].sides)
    if args.options:
        print(*protocol.averaging)
        print(*protocol.decoding)
        print(protocol.seed)
    else:
        print(tabulate(rows(protocol), tablefmt="plain", disable_numparse=True))
    return 0


def corpus(args: argparse.Namespace) -> str | None:
    """The name that the protocol knows the corpus by, if it is one."""
    if args.corpus is None or args.corpus in (names := {*manifest.shipped(), *corpora(args.protocol)}):
        name: str | None = args.corpus
        return name
    if not args.corpus.endswith(".toml"):
        raise UserError(f"{unknown('--corpus', args.corpus, sorted(names))}; your own is named by its file, FILE.toml")
    return manifest.load(args.corpus).name


def rows(protocol: Protocol) -> list[tuple[str, object]]:
    batch = f"{protocol.gpus} GPUs x {protocol.max_tokens:,} tokens x {protocol.update_freq}"
    length = f"{protocol.epochs} epochs" if protocol.epochs else f"{protocol.updates:,} updates"
    return [
        ("protocol", protocol.name),
        ("paper", protocol.paper or "none"),
        ("tokens a step", f"{batch} = {protocol.tokens_a_step:,}"),
        ("length", length),
        ("average", f"{protocol.average_of} {protocol.average}"),
        ("decoding", " ".join(protocol.decoding)),
        *((f"--{name}", value) for name, value in protocol.train.items()),
    ]
