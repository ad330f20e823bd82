"""The options of a request: a field's form on the command line, and the values that it allows."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field
from typing import Any

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.numbers import FINITE, Number
from realformer_nmt.common.requests.option_choice import not_allowed

SPEC = "spec"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The form of a field on the command line, and the values that it allows."""

    help: str | None = None
    positional: bool = False
    flag: str | None = None  # if it is not the field's name
    metavar: str | tuple[str, ...] | None = None
    choices: Collection[Any] | None = None
    parse: Any = None  # text -> value; by default the type itself
    range: Number | None = None
    group: str | None = None  # the group's title in --help
    either: str | None = None  # options with the same name here exclude each other
    without_value: Any = None  # value of the option without one, as --comet
    repeated: bool = False  # --name A --name B, not --name A B
    synonyms: Mapping[str, Any] = field(default_factory=dict)  # switches that set it: {"--bf16": "bf16"}
    last: bool = False  # the tokens after `--`


def argument(help: str | None = None, default: Any = MISSING, **spec: Any) -> Any:
    """Return a field for a positional argument."""
    return field(default=default, metadata={SPEC: Spec(help=help, positional=True, **spec)})


def option(help: str | None = None, default: Any = MISSING, **spec: Any) -> Any:
    """Return a field for an option: `max_tokens` for `--max-tokens`; without a default it is required."""
    return field(default=default, metadata={SPEC: Spec(help=help, **spec)})


def spec_of(each: "Field[Any]") -> Spec:
    spec: Spec = each.metadata[SPEC]
    return spec


def flag_of(each: "Field[Any]") -> str:
    """Return an option's flag, or a positional argument's name."""
    spec = spec_of(each)
    return each.name if spec.positional else spec.flag or f"--{each.name.replace('_', '-')}"


def check(each: "Field[Any]", value: Any, choices: Collection[Any] | None) -> None:
    """Refuse an empty value, and one outside the option's choices or range."""
    spec, flag = spec_of(each), flag_of(each)
    for item in value if isinstance(value, tuple) else [value]:
        if item == "" and value != each.default and not spec.last:
            raise OptionError(f"{flag} '' is empty: give a value, or leave it out")
        if choices is not None and item is not None and item not in choices:
            raise OptionError(not_allowed(flag, str(item), [str(choice) for choice in choices]))
        if isinstance(item, int | float) and not isinstance(item, bool):
            (spec.range or FINITE).check(flag, item)
