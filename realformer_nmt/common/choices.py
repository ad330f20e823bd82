"""One way to refuse a choice: what was given, what is allowed, what was perhaps meant."""

import difflib
from collections.abc import Collection, Mapping
from typing import TypeVar

from realformer_nmt.common.errors import OptionError

Part = TypeVar("Part")


def choose(flag: str, given: str, table: Mapping[str, Part], hint: str = "") -> Part:
    if given not in table:
        raise OptionError(unknown(flag, given, table) + hint)
    return table[given]


def unknown(flag: str, given: str, allowed: Collection[str]) -> str:
    near = difflib.get_close_matches(given, allowed, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"{flag} {given} is not one of {', '.join(allowed)}{meant}"
