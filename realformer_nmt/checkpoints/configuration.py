"""Of a checkpoint's configuration only what a translation model needs: its numbers, and names that are known here.

A model, task, criterion, tokeniser or BPE of fairseq's own is one of KNOWN; one of a plug-in that the command line
names is that plug-in's affair. Of their fields those are taken that they declare, as numbers and words; of paths only
the data-bin's. Nothing is resolved: a text with ${ is refused.
"""

import argparse
import functools
from collections.abc import Mapping
from typing import Any

from fairseq.dataclass.configs import FairseqConfig
from omegaconf import OmegaConf

from realformer_nmt.checkpoints.allowed_kinds import (
    CHOSEN_AS,
    Fields,
    SettingsError,
    added_later,
    declared,
    demand_known,
    files_to_give,
    is_of_plug_in,
    kinds,
    named,
)
from realformer_nmt.checkpoints.allowed_values import TEXTS, demand_kinds, is_taken, plain, take

METERS = ("AverageMeter", "SumMeter", "TimeMeter", "StopwatchMeter")


def take_settings(state: Mapping[str, Any]) -> dict[str, Any]:
    """The same checkpoint with no more than what is taken of its settings."""
    demand_entries(state)
    taken = dict(state)
    if taken.get("args") is not None:
        taken["args"] = flat(fields_of(taken["args"], "args"))
    if taken.get("cfg") is not None:
        taken["cfg"] = grouped(fields_of(taken["cfg"], "cfg"))
    demand_known_meters(taken.get("extra_state"))
    return taken


ENTRIES = {"model": dict, "extra_state": dict, "task_state": dict, "optimizer_history": list}


def demand_entries(state: Mapping[str, Any]) -> None:
    """Of the kinds that fairseq writes and reckons with."""
    for name, kind in ENTRIES.items():
        if name in state and not isinstance(state[name], kind):
            raise SettingsError(f"holds a {type(state[name]).__name__} as {name}, where fairseq has a {kind.__name__}")
    for name in state.get("model", ()):
        if not isinstance(name, str):
            raise SettingsError(f"names a weight {str(name)[:80]!r}, which is no text")
    for entry in state.get("optimizer_history", ()):
        if not isinstance(entry, dict):
            raise SettingsError(f"has {str(entry)[:80]!r} in its optimizer_history, where fairseq has a table")


def fields_of(given: Any, name: str) -> Fields:
    found = vars(given) if isinstance(given, argparse.Namespace) else given
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise SettingsError(f"its {name} are no options but a {type(given).__name__}")
    return found


def grouped(cfg: Fields) -> Fields:
    """fairseq's groups, with its own defaults wherever nothing is taken."""
    found = {name: take_numbers(group, cfg.get(name)) for name, group in general().items()}
    return {**found, **{group: choice(group, cfg.get(group)) for group in CHOSEN_AS}, **NONE}


NONE = dict.fromkeys(("optimizer", "lr_scheduler", "scoring"))


@functools.cache
def general() -> Mapping[str, Fields]:
    """The groups that every run of fairseq has, with their defaults."""
    defaults: Any = OmegaConf.to_container(OmegaConf.structured(FairseqConfig()), resolve=True, enum_to_str=True)
    return {name: group for name, group in defaults.items() if isinstance(group, dict)}


def take_numbers(defaults: Fields, given: Any) -> Fields:
    """And the few texts that are known."""
    values = fields_of({} if given is None else given, "settings")
    return {name: values[name] if is_taken(name, values.get(name)) else default for name, default in defaults.items()}


def choice(group: str, given: Any) -> Any:
    """One of the known, by name or with its fields."""
    if given is None:
        return None
    if isinstance(given, argparse.Namespace):
        return flat(vars(given), group)
    if isinstance(given, str):
        demand_known(group, given)
        return given
    values = fields_of(given, group)
    name = named(group, values)
    kind = demand_known(group, name)
    own = {**added_later(kind), **take(group, values, declared(kind))}
    demand_kinds(group, own, kinds(kind))
    if is_of_plug_in(kind):
        rest = (values.keys() & declared(kind)) - {*TEXTS, *CHOSEN_AS[group], "dataset_impl"}
        own |= {field: plain(values[field], f"the {group}'s {field}") for field in sorted(rest)}
    return {**(files_to_give(kind) if group in ("bpe", "tokenizer") else {}), **own, "_name": name}


def flat(values: Fields, group: str | None = None) -> argparse.Namespace:
    """The options of models and tasks without a dataclass: those of a whole command line in one."""
    found = {name: default for defaults in general().values() for name, default in defaults.items()}
    found = {**take_numbers(found, values), "dataset_impl": None}
    for part, fields in CHOSEN_AS.items():
        name = values.get(fields[1]) if part != group else named(part, values)
        if name is not None:
            kind = demand_known(part, name)
            found |= {**take(part, values, declared(kind)), fields[1]: name}
    if group is not None:
        found["_name"] = found[CHOSEN_AS[group][1]]
    return argparse.Namespace(**found)


def demand_known_meters(extra: Any) -> None:
    """fairseq makes meters of any name that stands there."""
    metrics = extra.get("metrics") if isinstance(extra, dict) else None
    for rows in (metrics or {}).values() if isinstance(metrics, dict | None) else (None,):
        if not isinstance(rows, list) or not all(isinstance(row, list | tuple) and row[2:3] for row in rows):
            raise SettingsError("has meters of another kind than fairseq's")
        if not all(row[2] in METERS for row in rows):
            raise SettingsError(f"has meters that fairseq does not know: allowed are {', '.join(METERS)}")
