"""`realformer-nmt user-dir`: the folder for fairseq's --user-dir, wherever the package is installed."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints a folder, so that --user-dir works from everywhere."
    parser.epilog = 'example: fairseq-train DATA --user-dir "$(realformer-nmt user-dir)" --arch realformer_tiny'


def run(_: argparse.Namespace) -> int:
    print(Path(__file__).resolve().parents[1])
    return 0
