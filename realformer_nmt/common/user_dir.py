"""Rows of your own in the tables: a folder, as fairseq's --user-dir, whose module adds them when it is imported."""

from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FLAG = "--user-dir"


def folder_in(argv: Sequence[str]) -> Path | None:
    """Return the folder that argv names; it is needed before argv is parsed, because rows are choices of options."""
    parser = ArgumentParser(add_help=False)
    parser.add_argument(FLAG, nargs="?")
    folder = parser.parse_known_args([*takewhile(lambda each: each != "--", argv)])[0].user_dir
    return Path(folder) if folder else None


def for_fairseq(folder: Path | None) -> list[str]:
    """Return fairseq's option: a folder of your own, which imports this package, or else this package."""
    return [FLAG, str(folder.absolute() if folder else PACKAGE)]
