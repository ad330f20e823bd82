"""Checks of names that become paths: those in manifests, grids, protocols and records.

Each function returns its argument, or raises a ValueError that says what is allowed; the caller adds which file and
which key the name is from.
"""

import argparse
import contextlib
import unicodedata
from pathlib import Path, PurePosixPath

LONGEST = 200  # bytes of a name: file systems allow 255, and a file that is being written has a longer name
PLAIN = "._-+"
MEMBERS = f"{PLAIN},=@~()[]' &!#%"  # also allowed for members of archives


def plain(name: str) -> str:
    """Check a name without a folder: no separator, no `..`, not hidden, not like an option."""
    return _check(name, PLAIN, "a plain name: letters, digits and ._-+, the first a letter, a digit or _")


def is_plain(name: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(plain(name))
    return False


def inside(path: str) -> str:
    """Check a relative path that stays in its folder."""
    for part in path.split("/"):
        _check(part, MEMBERS, f"a path that stays in its folder, of names of letters, digits and {MEMBERS}")
    return path


def anywhere(path: str) -> str:
    """Check a path to read from, which may be anywhere, such as a grid's corpus."""
    if not path or not path.isprintable() or any(part.startswith("-") for part in PurePosixPath(path).parts):
        raise ValueError(f"{path!r}: allowed is a path without control characters, no part of which begins with -")
    return path


def path_option(path: str) -> Path:
    """Return the path that an option gives; refuse an empty one, which would mean the current folder."""
    if not path:
        raise argparse.ArgumentTypeError("'' names no file and no folder; the current folder is .")
    return Path(path)


def _check(name: str, punctuation: str, allowed: str) -> str:
    categories = {unicodedata.category(letter)[0] for letter in name if letter not in punctuation}
    starts_well = name[:1].isalnum() or name.startswith("_")
    plain_letters = categories <= set("LMN")  # letters, marks on them, numbers
    if not (starts_well and plain_letters) or len(name.encode()) > LONGEST:
        raise ValueError(f"{name!r}: allowed is {allowed}")
    return name
