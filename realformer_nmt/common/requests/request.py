"""Requests: the arguments and options of a command as a frozen dataclass, from which its argparse parser is built.

The type of a field says how it is read: `bool` is a switch, `int | None` a number that may be omitted,
`tuple[Path, ...]` one file or more.
"""

import argparse
import functools
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from inspect import getdoc
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, TypeVar, get_type_hints

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.files.safe_names import path_option
from realformer_nmt.common.requests import request_argv
from realformer_nmt.common.requests.option import check, option, spec_of
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.requests.subcommand_parser import SubcommandParser

SomeRequest = TypeVar("SomeRequest", bound="Request")


@dataclass(frozen=True, kw_only=True)
class Request:
    """Base of all requests: each is checked when it is built, whether by argparse or in Python."""

    subcommand: ClassVar[str] = ""  # of realformer-nmt
    examples: ClassVar[str | None] = None
    implementation: ClassVar[str]  # the module with `run(request)`, imported when it is called

    user_dir: Path | None = option(
        "folder of your own that adds rows to this package's tables (in a clone: docs/extending.md)",
        None,
        group="your own code",
    )

    def __post_init__(self) -> None:
        kind: Any = type(self)  # mypy takes the class's hash for that of its instances
        choices = choices_of(kind)
        for each in fields(self):
            check(each, getattr(self, each.name), choices[each.name])

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        parser.register("type", Path, path_option)
        parser.description = getdoc(cls)
        parser.epilog, parser.formatter_class = cls.examples, argparse.RawDescriptionHelpFormatter
        request_argv.add_arguments(parser, options_of(cls), get_type_hints(cls))

    @classmethod
    def from_args(cls: type[SomeRequest], args: argparse.Namespace) -> SomeRequest:
        return cls(**{each.name: request_argv.as_tuple(getattr(args, each.name)) for each in fields(cls)})

    @classmethod
    def of(cls: type[SomeRequest], **options: Any) -> SomeRequest:
        """Build a request in Python as from its argv; a single value stands for a tuple."""
        by_name = {each.name: each for each in options_of(cls)}
        for name in options:
            if name not in by_name:
                raise OptionError(not_allowed("option", name, by_name))
        parser = SubcommandParser(prog=cls.subcommand, add_help=False)
        cls.add_arguments(parser)
        return cls.from_args(parser.parse_args(argv_of(by_name.values(), options)))

    def as_options(self, kind: "type[Request] | None" = None) -> dict[str, Any]:
        """Return the fields by name, all or those of a base class, to build another request with the same fields."""
        return {each.name: getattr(self, each.name) for each in fields(kind or self)}

    def argv(self) -> list[str]:
        """Return the argv of this request, without the options that have their default values."""
        return argv_of(fields(self), vars(self))

    def command(self) -> list[str]:
        """Return the command that runs this request."""
        return ["realformer-nmt", self.subcommand, *self.argv()]

    def __str__(self) -> str:
        return shlex.join(self.argv())

    def run(self) -> int:
        """Run the command, and return its exit status."""
        status: int = resolve_name(f"{self.implementation}:run")(self)
        return status


def argv_of(options: "Iterable[Field[Any]]", values: Mapping[str, Any]) -> list[str]:
    """Return the argv of values by name."""
    tokens: list[str] = []
    for each in sorted(options, key=lambda each: spec_of(each).last):
        tokens += request_argv.written(each, request_argv.as_tuple(values.get(each.name)))
    return tokens


def options_of(kind: type[Request]) -> "list[Field[Any]]":
    """Return the fields of a request class, those of every request last."""
    return sorted(fields(kind), key=lambda each: each.name in Request.__dataclass_fields__)


@functools.cache
def choices_of(kind: Any) -> dict[str, Collection[Any] | None]:
    """Return the choices of each field of a request class, which its option or its type lists; None for any value."""
    hints = get_type_hints(kind)
    return {
        each.name: spec_of(each).choices or request_argv.FieldType.of(hints[each.name]).choices for each in fields(kind)
    }
