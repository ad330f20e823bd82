"""The models, tasks, criteria, tokenisers and BPEs that a checkpoint may name, and the settings that each has.

A checkpoint stores names and settings, and fairseq builds what is registered under these names. Allowed are the names
in KNOWN, and all that a plug-in of the command line (--user-dir) has registered.

In this file a group is one of fairseq's registries, such as "model" or "task", and a component is a class in it.
"""

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any

from fairseq.models import ARCH_MODEL_NAME_REGISTRY, ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_options import CRITERIA, SMOOTHED
from realformer_nmt.tasks import TASKS

Fields = dict[str, object]  # settings by their names
KNOWN: Mapping[str, tuple[str, ...]] = {
    "model": (
        *dict.fromkeys(model for task in TASKS.values() for model in task.models),
        "multilingual_transformer",
        "multilingual_realformer_nmt",
    ),
    "task": (*TASKS, "multilingual_translation", "translation_multi_simple_epoch"),
    "criterion": (
        *CRITERIA,
        f"{SMOOTHED}_with_alignment",
        "adaptive_loss",
        *(task.criterion for task in TASKS.values() if task.criterion),
    ),
    "bpe": ("subword_nmt", "sentencepiece", "fastbpe", "characters", "bytes"),
    "tokenizer": ("moses", "nltk", "space"),
}
PACKAGES = ("fairseq", "realformer_nmt")
# The settings that may hold the name of a group's component: newer checkpoints have _name, older ones the option
NAME_FIELDS = {"model": ("_name", "arch"), **{group: ("_name", group) for group in KNOWN if group != "model"}}


class SettingsError(UserError):
    """A setting that a checkpoint may not have; whoever knows the file's name adds it to the message."""


def name_in(group: str, settings: Fields) -> str:
    """Return the name of the component that the settings of a group are for."""
    name = next((settings[field] for field in NAME_FIELDS[group] if settings.get(field)), None)
    if not isinstance(name, str):
        raise SettingsError(f"its {group} has no name")
    return name


def check_known(group: str, name: object) -> type:
    """Return the component of a name; refuse names that are neither in KNOWN nor registered by a plug-in."""
    component = registry(group).get(name) if isinstance(name, str) else None
    base = ARCH_MODEL_NAME_REGISTRY.get(name, name) if group == "model" and isinstance(name, str) else name
    if component is None or not (base in KNOWN[group] or component.__module__.partition(".")[0] != "fairseq"):
        allowed = f"{', '.join(KNOWN[group])}, or one of your own --user-dir"
        raise SettingsError(f"asks for the {group} {str(name)[:80]!r}; a checkpoint may ask for {allowed}")
    return component


def registry(group: str) -> Mapping[str, type]:
    """Return fairseq's registry of a group: the components by their names."""
    if group == "model":
        return {**MODEL_REGISTRY, **ARCH_MODEL_REGISTRY}
    registered: Mapping[str, type] = TASK_REGISTRY if group == "task" else REGISTRIES[group]["registry"]
    return registered


def is_own(component: type) -> bool:
    """Tell whether a component is the user's own: neither fairseq's nor of this package."""
    return component.__module__.partition(".")[0] not in PACKAGES


def own_components(group: str) -> Mapping[str, type]:
    return {name: component for name, component in registry(group).items() if is_own(component)}


def dataclass_fields(component: type) -> tuple[dataclasses.Field[Any], ...] | None:
    """Return the fields of the dataclass that fairseq attaches to a component; None if it has none."""
    dataclass = getattr(component, "__dataclass", None)
    return None if dataclass is None else dataclasses.fields(dataclass)


def declared(component: type) -> frozenset[str]:
    """Return the names of a component's settings, from its dataclass or from the options that it adds to a parser."""
    fields = dataclass_fields(component)
    if fields is not None:
        return frozenset(field.name for field in fields)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, conflict_handler="resolve")
    if hasattr(component, "add_args"):
        component.add_args(parser)
    return frozenset(action.dest for action in parser._actions)


def required_settings(component: type) -> Fields:
    """Return "???", omegaconf's mark of a missing value, for what the user must give, such as a file of BPE's codes."""
    return {field.name: "???" for field in dataclass_fields(component) or () if field.default == "???"}
