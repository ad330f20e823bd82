"""TOML files, and dataclasses made of their tables: what is wrong is told by its key."""

import sys
import types
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option import SPEC, spec_of
from realformer_nmt.common.requests.option_choice import not_allowed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCALARS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
Table = dict[str, object]


class TableError(Exception):
    """A key with a wrong value; who reads the file adds its name."""

    def __init__(self, key: str, wrong: str) -> None:
        super().__init__(f"{key}: {wrong}" if key else wrong)


def locate(option: str, name_or_path: str, folder: Path, names: Collection[str]) -> Path:
    """Return the file of one of these names in a folder, or a path that ends with .toml as it is."""
    if name_or_path.endswith(".toml"):
        return Path(name_or_path)
    if name_or_path not in names:
        raise UserError(not_allowed(option, name_or_path, names) + "; your own is named by its file, FILE.toml")
    return folder / f"{name_or_path}.toml"


def read_toml(file: Path, hint: str) -> dict[str, object]:
    try:
        table: Table = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
        check_visible(table)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; {hint}") from error
    except RecursionError as error:
        raise UserError(f"{file}: it is nested too deeply; {hint}") from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise UserError(f"{file}: {error}; {hint}") from error
    return table


def check_visible(value: object) -> None:
    """Raise unless all strings of a table are printable, so that none controls a terminal or the text direction."""
    if isinstance(value, str) and not value.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError(f"{value!r} holds characters that cannot be seen: leave them out")
    if isinstance(value, dict):
        value = [*value, *value.values()]
    for item in value if isinstance(value, list) else ():
        check_visible(item)


def merge(base: Table, table: Table) -> Table:
    """Return the table with the keys of the base that it does not have, in inner tables too."""
    merged = {**base, **table}
    for key, inner in base.items():
        value = table.get(key)
        if isinstance(inner, dict) and isinstance(value, dict):
            merged[key] = merge(inner, value)
    return merged


def build(kind: Any, value: Any, key: str) -> Any:
    """Convert a value to a field's type: tables become dataclasses, strings what their class parses."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # X | None: an absent key is None, a present one an X
        return build(inner[0], value, key)
    if origin is Literal:
        return one_of(inner, value, key)
    if origin is tuple:
        return tuple(build(inner[0], item, f"{key}[{number}]") for number, item in enumerate(build(list, value, key)))
    if hasattr(kind, "parse"):
        return constructed(key, kind.parse, build(str, value, key))
    if is_dataclass(kind):
        return build_table(kind, build(dict, value, key), key, {})
    if origin is dict and inner[1] in SCALARS:
        return {name: build(inner[1], item, f"{key}.{name}") for name, item in build(dict, value, key).items()}
    plain = origin or kind  # dict of dict[str, object]
    allowed = (int, float) if plain is float else (plain,)  # ratio = 9 is a number too
    if type(value) not in allowed:
        name = {**SCALARS, list: "a list", dict: "a table"}[plain]
        raise TableError(key, f"allowed is {name}, given was {value!r}")
    return value


def build_table(kind: Any, table: Table, key: str, values: Mapping[str, object]) -> Any:
    """Build a dataclass from a table and from `values`, which are fields that the table may not have as keys."""
    hints = get_type_hints(kind)
    allowed = {field.name: field for field in fields(kind) if field.name not in values}
    prefix = f"{key}." if key else ""
    for name in table:
        if name not in allowed:
            raise TableError(key, not_allowed("key", name, allowed))
    for name, field in allowed.items():
        if name not in table and field.default is MISSING:
            raise TableError(f"{prefix}{name}", "is missing")
    built = {}
    for name in [name for name in allowed if name in table]:
        value, inner = table[name], f"{prefix}{name}"
        choices = spec_of(allowed[name]).choices if SPEC in allowed[name].metadata else None  # as a request's `option`
        built[name] = build(hints[name], value, inner) if choices is None else one_of(tuple(choices), value, inner)
    return constructed(key, kind, **built, **values)


def one_of(choices: tuple[Any, ...], value: Any, key: str) -> Any:
    if value not in choices:
        raise TableError(key, not_allowed("", str(value), choices).lstrip())
    return value


def constructed(key: str, make: Any, *arguments: object, **named: object) -> Any:
    """Return make(...), with its ValueError as a TableError of this key."""
    try:
        return make(*arguments, **named)
    except ValueError as error:
        raise TableError(key, str(error)) from error
