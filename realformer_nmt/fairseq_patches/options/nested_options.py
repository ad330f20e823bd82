"""Options within an option, whose names are checked: fairseq silently ignores unknown ones."""

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairseq.dataclass.configs import GenerationConfig

from realformer_nmt.checkpoints.files.allowed_components import KNOWN, declared, is_of_plug_in, registry
from realformer_nmt.checkpoints.files.configuration import general
from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.requests.option_choice import suggestion
from realformer_nmt.fairseq_patches.options.literal_options import evaluate


def names_of_decoding() -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(GenerationConfig))


@functools.cache
def names_of_checkpoints() -> frozenset[str]:
    """Return the names of the groups of settings, and of the settings of all parts that a checkpoint may have."""
    names = {*general(), *KNOWN, *(name for group in general().values() for name in group)}
    for group, allowed in KNOWN.items():
        for name, kind in registry(group).items():
            if name in allowed or is_of_plug_in(kind):
                names |= declared(kind)
    return frozenset(names)


class Nested(NamedTuple):
    """Reader of an option's value, and the names that are allowed in it."""

    read: Callable[[str], Any]
    names: Callable[[], frozenset[str]]


NESTED: Mapping[str, Nested] = {
    "model_overrides": Nested(evaluate, names_of_checkpoints),
    "eval_bleu_args": Nested(json.loads, names_of_decoding),
}


def read(option: str, text: str) -> Mapping[str, Any]:
    """Read the options within an option of NESTED, and check their names."""
    flag = f"--{option.replace('_', '-')}"
    try:
        table = NESTED[option].read(text or "{}")
    except ValueError as error:
        raise OptionError(f"{flag} {text[:80]!r} cannot be read ({error}): pass a table of options") from error
    if not isinstance(table, dict):
        raise OptionError(f"{flag} {text[:80]!r} is no table of options, such as {{'dropout': 0.1}}")
    for name, value in table.items():
        check_known(flag, name, value, NESTED[option].names())
    return table


def check_known(flag: str, name: Any, value: Any, names: frozenset[str]) -> None:
    if name not in names:
        raise OptionError(f"{flag}: there is no option {str(name)[:80]!r}{suggestion(str(name), names)}")
    if name in KNOWN and not isinstance(value, dict):
        raise OptionError(f"{flag}: {name} is a group of options: pass a table of them, not {str(value)[:80]!r}")
