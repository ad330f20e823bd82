"""`realformer-nmt user-dir`: the folder for fairseq's --user-dir, wherever the package is installed."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = 'From any folder: fairseq-train DATA --user-dir "$(realformer-nmt user-dir)" ...'


def run(_: argparse.Namespace) -> int:
    print(Path(__file__).resolve().parent)
    return 0
