"""`realformer-nmt completion SHELL`: what a shell needs to complete subcommands, options and their values."""

import argparse
import importlib

from realformer_nmt.command import SUBCOMMANDS, parser
from realformer_nmt.common.errors import UserError

SHELLS = ("bash", "zsh", "tcsh")
EXAMPLES = """examples:
  realformer-nmt completion bash > ~/.local/share/bash-completion/completions/realformer-nmt
  realformer-nmt completion zsh > DIR/_realformer-nmt    # a DIR of $fpath
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints a script; write it where the shell looks for completions."
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=SHELLS)


def run(args: argparse.Namespace) -> int:
    try:
        shtab = importlib.import_module("shtab")
    except ImportError as error:
        raise UserError("completion needs shtab: pip install 'realformer-nmt[completion]'") from error
    print(shtab.complete(parser([row.name for row in SUBCOMMANDS]), args.shell))
    return 0
