"""Options within an option. fairseq leaves out, without a word, those that nothing is called."""

import dataclasses
import difflib
import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairseq.dataclass.configs import GenerationConfig

from realformer_nmt.checkpoints.allowed_kinds import KNOWN, declared, is_of_plug_in, registry
from realformer_nmt.checkpoints.configuration import general
from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_patches.literal_options import evaluate


def names_of_decoding() -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(GenerationConfig))


@functools.cache
def names_of_checkpoints() -> frozenset[str]:
    """The groups of settings, and what the parts that a checkpoint may have declare."""
    found = {*general(), *KNOWN, *(name for group in general().values() for name in group)}
    for group, known in KNOWN.items():
        for name, kind in registry(group).items():
            if name in known or is_of_plug_in(kind):
                found |= declared(kind)
    return frozenset(found)


class Nested(NamedTuple):
    read: Callable[[str], Any]
    names: Callable[[], frozenset[str]]


NESTED: Mapping[str, Nested] = {
    "model_overrides": Nested(evaluate, names_of_checkpoints),
    "eval_bleu_args": Nested(json.loads, names_of_decoding),
}


def read(option: str, written: str) -> Mapping[str, Any]:
    """Those of NESTED[option], each by a name that something has."""
    flag = f"--{option.replace('_', '-')}"
    try:
        given = NESTED[option].read(written or "{}")
    except ValueError as error:
        raise OptionError(f"{flag} {written[:80]!r} cannot be read ({error}): pass a table of options") from error
    if not isinstance(given, dict):
        raise OptionError(f"{flag} {written[:80]!r} is no table of options, such as {{'dropout': 0.1}}")
    for name, value in given.items():
        demand_known(flag, name, value, NESTED[option].names())
    return given


def demand_known(flag: str, name: Any, value: Any, names: frozenset[str]) -> None:
    if name not in names:
        like = difflib.get_close_matches(str(name), names, 1)
        raise OptionError(f"{flag}: nothing is called {str(name)[:80]!r}" + (f"; there is {like[0]!r}" if like else ""))
    if name in KNOWN and not isinstance(value, dict):
        raise OptionError(f"{flag}: {name} is a group of options: pass a table of them, not {str(value)[:80]!r}")
