"""The message that refuses an unknown choice: the value, the allowed ones, the closest one."""

import difflib
from collections.abc import Collection, Mapping
from typing import TypeVar

from realformer_nmt.common.errors import OptionError

Part = TypeVar("Part")


def choose(flag: str, value: str, table: Mapping[str, Part], hint: str = "") -> Part:
    if value not in table:
        raise OptionError(not_allowed(flag, value, table) + hint)
    return table[value]


def not_allowed(flag: str, value: str, allowed: Collection[str]) -> str:
    """Return the message for a value of an option that is not allowed."""
    close = difflib.get_close_matches(value, allowed, n=1)
    suggestion = f"; did you mean {close[0]}?" if close else ""
    return f"{flag} {value} is not one of {', '.join(allowed)}{suggestion}"
