"""The message that refuses an unknown choice: the value, the allowed ones, the closest one."""

import difflib
from collections.abc import Collection, Mapping
from typing import TypeVar

from realformer_nmt.common.errors import OptionError

Part = TypeVar("Part")
FEW = 20  # a longer list is left out where a suggestion stands in its place


def choose(flag: str, value: str, table: Mapping[str, Part], hint: str = "") -> Part:
    if value not in table:
        raise OptionError(not_allowed(flag, value, table) + hint)
    return table[value]


def not_allowed(flag: str, value: str, allowed: Collection[str]) -> str:
    """Return the message for a value of an option that is not allowed."""
    advice = suggestion(value, allowed)
    names = f"{len(allowed)} names" if advice and len(allowed) > FEW else ", ".join(allowed)
    return f"{flag} {value} is not one of {names}{advice}"


def suggestion(value: str, allowed: Collection[str], prefix: str = "") -> str:
    """Return `; did you mean X?`: the first name that begins with the value, or else the closest one."""
    longer = [name for name in allowed if value and name.startswith(value)]
    close = longer or difflib.get_close_matches(value, allowed, n=1)
    return f"; did you mean {prefix}{close[0]}?" if close else ""
