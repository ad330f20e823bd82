"""Kinds of values in a cell's records, which their seals do not tell: those that a report reckons with or quotes."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

Kind = Callable[[Any], bool]


def check(table: Any, kinds: Mapping[str, Kind], within: str = "") -> None:
    """What is absent is None."""
    for name, is_right in kinds.items():
        value = table.get(name)
        if not is_right(value):
            raise ValueError(f"{within}{name} is {str(value)[:80]!r}")


def check_rows(rows: Any, kinds: Mapping[str, Kind], name: str) -> None:
    check({name: rows}, {name: list_of(table)})
    for place, row in enumerate(rows):
        check(row, kinds, f"{name}.{place}.")


def text(value: Any) -> bool:
    """Without half of a pair of surrogates, which no file takes."""
    return isinstance(value, str) and value.encode("utf-8", "replace").decode() == value


def count(value: Any) -> bool:
    return type(value) is int and value > 0


def finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def number(value: Any) -> bool:
    """NaN is one."""
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
