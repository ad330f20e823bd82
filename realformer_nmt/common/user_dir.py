"""Rows of your own in the tables: a folder, as fairseq's --user-dir, whose module adds them when it is imported."""

import importlib.util
import sys
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path

from realformer_nmt.common.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
FLAG = "--user-dir"


def check(folder: Path) -> None:
    """Refuse a folder that is no package, or whose name cannot be imported or is another module's."""
    if not (folder / "__init__.py").is_file():
        raise UserError(f"{FLAG} {folder}: no Python package; give a folder with an __init__.py")
    name, place = folder.absolute().name, str(folder.absolute() / "__init__.py")
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == place:
        return
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin != place:
        raise UserError(f"{FLAG} {folder}: another module is called {name}; rename the folder")


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
