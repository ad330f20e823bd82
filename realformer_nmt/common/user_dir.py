"""Rows of your own in the tables: a folder, as fairseq's --user-dir, whose module adds them when it is imported."""

import sys
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path

from realformer_nmt.common.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
FLAG = "--user-dir"


def check(folder: Path) -> None:
    """Refuse a folder that is no package, or whose name is another module's."""
    if not (folder / "__init__.py").is_file():
        raise UserError(f"{FLAG} {folder}: no Python package; give a folder with an __init__.py")
    name = folder.absolute().name
    if name in sys.modules and str(folder.absolute()) not in getattr(sys.modules[name], "__path__", ()):
        raise UserError(f"{FLAG} {folder}: another module is called {name}; rename the folder")


def folder_in(argv: Sequence[str]) -> Path | None:
    """Return the folder that argv names; it is needed before argv is parsed, because rows are choices of options."""
    options = list(takewhile(lambda each: each != "--", argv))
    folders = [each.partition("=")[2] for each in options if each.startswith(f"{FLAG}=")]
    folders += [following for each, following in pairwise(options) if each == FLAG]
    return Path(folders[0]) if folders else None


def for_fairseq(folder: Path | None) -> list[str]:
    """Return fairseq's option: a folder of your own, which imports this package, or else this package."""
    return [FLAG, str(folder.absolute() if folder else PACKAGE)]
