"""Conversion of a request's fields to argparse arguments, and of their values to argv."""

import argparse
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field
from typing import Any

from realformer_nmt.common.requests.option import Spec, flag_of, spec_of


class FieldType(typing.NamedTuple):
    """The number and the type of a field's values."""

    type: Any
    many: bool = False
    together: int | None = None  # values of one occurrence: --train SOURCE TARGET
    optional: bool = False
    choices: tuple[str, ...] | None = None  # those of a Literal

    @classmethod
    def of(cls, hint: Any) -> "FieldType":
        optional = typing.get_origin(hint) in (typing.Union, types.UnionType)
        if optional:
            hint = next(each for each in typing.get_args(hint) if each is not types.NoneType)
        if typing.get_origin(hint) is typing.Literal:
            return cls(str, optional=optional, choices=typing.get_args(hint))
        if typing.get_origin(hint) is not tuple:
            return cls(hint, optional=optional)
        item = typing.get_args(hint)[0]
        if typing.get_origin(item) is tuple:
            return cls(typing.get_args(item)[0], many=True, together=len(typing.get_args(item)))
        return cls(item, many=True)


def add_arguments(parser: argparse.ArgumentParser, fields: "Sequence[Field[Any]]", hints: Mapping[str, object]) -> None:
    """Add an argument for each field; `hints` are the fields' types, by name."""
    homes: dict[tuple[str | None, str | None], Any] = {(None, None): parser}
    for each in fields:
        spec = spec_of(each)
        add_argument(_home(homes, spec.group, spec.either), each, FieldType.of(hints[each.name]))


def add_argument(home: Any, each: "Field[Any]", shape: FieldType) -> None:
    spec = spec_of(each)
    keywords: dict[str, object] = {"help": spec.help, "default": default_of(each)}
    if shape.type is bool:
        keywords["action"] = argparse.BooleanOptionalAction if shape.optional else "store_true"
    else:
        keywords |= {
            "metavar": spec.metavar,
            "choices": spec.choices or shape.choices,
            "type": spec.parse or shape.type,
        }
        keywords |= counted(spec, shape, required=each.default is MISSING)
    if spec.positional:
        home.add_argument(each.name, **keywords)
        return
    home.add_argument(flag_of(each), dest=each.name, required=each.default is MISSING, **keywords)
    for flag, value in spec.synonyms.items():
        home.add_argument(
            flag, dest=each.name, action="store_const", const=value, help=f"the same as {flag_of(each)} {value}"
        )


def default_of(each: "Field[Any]") -> Any:
    """Return a field's default as argparse needs it: a list, to which it can append, in place of a tuple."""
    if each.default is MISSING:
        return None
    return list(each.default) if isinstance(each.default, tuple) else each.default


def counted(spec: Spec, shape: FieldType, required: bool) -> dict[str, object]:
    """Return argparse's `nargs` and `action` for a field."""
    if spec.without_value is not None:
        return {"nargs": "?", "const": spec.without_value}
    if shape.together or (shape.many and spec.repeated):
        return {"action": "append", **({"nargs": shape.together} if shape.together else {})}
    if shape.many:
        return {"nargs": "+" if required or not spec.positional else "*"}
    return {"nargs": "?"} if spec.positional and not required else {}


def as_tuple(value: Any) -> Any:
    """Turn lists into tuples, nested ones too."""
    return tuple(map(as_tuple, value)) if isinstance(value, list | tuple) else value


def written(each: "Field[Any]", value: Any) -> Iterator[str]:
    """Yield a field's part of argv; nothing for its default value."""
    spec, flag = spec_of(each), flag_of(each)
    if value in (None, (), each.default):
        return
    if spec.last or spec.positional:
        words = map(str, value if isinstance(value, tuple) else [value])
        yield from ("--", *words) if spec.last else words
    elif isinstance(value, bool):
        yield flag if value else f"--no-{each.name.replace('_', '-')}"
    elif not isinstance(value, tuple):
        text = str(value)
        like_option = text.startswith("-") and text != "-"
        yield from [f"{flag}={text}"] if like_option else [flag, text]
    elif isinstance(value[0], tuple) or spec.repeated:
        for item in value:
            yield from (flag, *map(str, item if isinstance(item, tuple) else [item]))
    else:
        yield from (flag, *map(str, value))


def _home(homes: dict[tuple[str | None, str | None], Any], group: str | None, either: str | None) -> Any:
    """Return the parser or the group to which an option is added; groups are created when first needed."""
    if (group, None) not in homes:
        homes[group, None] = homes[None, None].add_argument_group(group)
    if (group, either) not in homes:
        homes[group, either] = homes[group, None].add_mutually_exclusive_group()
    return homes[group, either]
