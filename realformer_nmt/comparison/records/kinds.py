"""Types of the values in a cell's records that a report computes with or quotes; a checksum does not check them."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

Kind = Callable[[Any], bool]


def check(table: Any, kinds: Mapping[str, Kind], within: str = "") -> None:
    """Refuse a value of another type; an absent value counts as None."""
    for name, is_right in kinds.items():
        value = table.get(name)
        if not is_right(value):
            raise ValueError(f"{within}{name} is {str(value)[:80]!r}")


def check_rows(rows: Any, kinds: Mapping[str, Kind], name: str) -> None:
    check({name: rows}, {name: list_of(table)})
    for index, row in enumerate(rows):
        check(row, kinds, f"{name}.{index}.")


def text(value: Any) -> bool:
    """Tell whether a value is a string that UTF-8 can encode: half of a surrogate pair cannot be written."""
    return isinstance(value, str) and value.encode("utf-8", "replace").decode() == value


def count(value: Any) -> bool:
    return type(value) is int and value > 0


def finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def number(value: Any) -> bool:
    """Tell whether a value is a number; NaN and infinity are numbers too."""
    return isinstance(value, float) or finite(value)


def table(value: Any) -> bool:
    return isinstance(value, dict)


def table_of(kind: Kind) -> Kind:
    return lambda value: table(value) and all(map(kind, value.values()))


def list_of(kind: Kind) -> Kind:
    return lambda value: isinstance(value, list) and all(map(kind, value))


def either(*kinds: Kind) -> Kind:
    return lambda value: any(kind(value) for kind in kinds)


def absent_or(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)
