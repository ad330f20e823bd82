"""Names that stand in a file and become paths: what a manifest, a grid, a protocol or a record may call a file.

Each function returns what it was given, or raises a ValueError that says what is allowed; whoever reads the file adds
its name and the key.
"""

import argparse
import contextlib
import unicodedata
from pathlib import Path, PurePosixPath

LONGEST = 200  # bytes of a name: 255 is what disks take, and a file that is being written has a longer one
PLAIN = "._-+"
UNSEEN = (  # letters and marks that Unicode says to show as nothing: two names could look like one
    *("\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u3164", "\uffa0"),
    *map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),
)
MEMBERS = f"{PLAIN},=@~()[]' &!#%"  # what people put into the names of an archive's members, too


def plain(name: str) -> str:
    """A name without a folder: no separator, no `..`, nothing hidden, nothing that reads as an option."""
    return _demand(name, PLAIN, "a plain name: letters, digits and ._-+, the first a letter, a digit or _")


def is_plain(name: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(plain(name))
    return False


def file_name(name: str) -> str:
    """A plain name, and none of a file half written."""
    if name.endswith(".part"):
        raise ValueError(f"{name!r}: allowed is a name that does not end with .part")
    return plain(name)


def inside(path: str) -> str:
    """A relative path that stays in its folder."""
    for part in path.split("/"):
        _demand(part, MEMBERS, f"a path that stays in its folder, of names of letters, digits and {MEMBERS}")
    return path


def folded(path: str) -> str:
    """The same for two names that are one file on some disks: macOS's and Windows' take A for a, composed é for é."""
    return unicodedata.normalize("NFKC", path).casefold()


def anywhere(path: str) -> str:
    """To read from: a grid's corpus may lie beside it or elsewhere."""
    if not path or not path.isprintable() or any(part.startswith("-") for part in PurePosixPath(path).parts):
        raise ValueError(f"{path!r}: allowed is a path without control characters, no part of which begins with -")
    return path


def given(path: str) -> Path:
    """An option's. An empty one would be the current folder, which nobody has named."""
    if not path:
        raise argparse.ArgumentTypeError("'' names no file and no folder; the current folder is .")
    return Path(path)


def _demand(name: str, others: str, allowed: str) -> str:
    kinds = {unicodedata.category(letter)[0] for letter in name if letter not in others}
    begins = name[:1].isalnum() or name.startswith("_")
    seen = kinds <= set("LMN") and not any(letter in UNSEEN for letter in name)  # letters, marks on them, numbers
    if not begins or not seen or len(name.encode()) > LONGEST:
        raise ValueError(f"{name!r}: allowed is {allowed}")
    return name
