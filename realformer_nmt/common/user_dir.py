"""Rows of your own in the tables: a folder, as fairseq's --user-dir, whose module adds them when it is imported."""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FLAG = "--user-dir"


def folder_in(argv: Sequence[str]) -> Path | None:
    """Return the folder that argv names; it is needed before argv is parsed, because rows are choices of options.

    As in argparse, the last of several counts, and the option's name may be shortened.
    """
    options = takewhile(lambda each: each != "--", argv)
    folder = ""
    for each, following in pairwise([*options, ""]):
        flag, equals, value = each.partition("=")
        if len(flag) > 2 and FLAG.startswith(flag):
            folder = value if equals else following
    return Path(folder) if folder else None


def for_fairseq(folder: Path | None) -> list[str]:
    """Return fairseq's option: a folder of your own, which imports this package, or else this package."""
    return [FLAG, str(folder.absolute() if folder else PACKAGE)]
