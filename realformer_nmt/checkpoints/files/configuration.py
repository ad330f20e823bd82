"""Reduction of a checkpoint's settings to those that are allowed, before fairseq builds anything from them.

Models, tasks, criteria, tokenisers and BPEs must be in KNOWN (allowed_components.py) or of a plug-in of the command
line. Each keeps the settings that it declares, if their values are allowed (allowed_values.py). All other settings of
fairseq get fairseq's defaults.
"""

import argparse
import functools
from collections.abc import Mapping
from typing import Any, cast

from fairseq.dataclass.configs import FairseqConfig
from omegaconf import OmegaConf

from realformer_nmt.checkpoints.files.allowed_components import (
    NAME_FIELDS,
    Fields,
    check_known,
    name_in,
    required_settings,
)
from realformer_nmt.checkpoints.files.allowed_values import allowed_settings
from realformer_nmt.checkpoints.files.checkpoint_fields import table
from realformer_nmt.checkpoints.files.reading import Checkpoint

UNUSED = dict.fromkeys(("optimizer", "lr_scheduler", "scoring"))  # groups that no model needs: None


def take_settings(state: Mapping[str, object]) -> Checkpoint:
    """Return a checkpoint with only its allowed settings; refuse unknown components and settings."""
    checked = cast(Checkpoint, dict(state))
    if checked.get("args") is not None:
        checked["args"] = flat(table(checked["args"]))
    if checked.get("cfg") is not None:
        checked["cfg"] = grouped(table(checked["cfg"]))
    return checked


def grouped(cfg: Fields) -> Fields:
    """Return the settings by groups, as newer versions of fairseq store them."""
    components = {group: component_settings(group, cfg.get(group)) for group in NAME_FIELDS}
    return {**general(), **components, **UNUSED}


@functools.cache
def general() -> Mapping[str, Fields]:
    """Return the groups that every run of fairseq has, with their defaults."""
    defaults: Any = OmegaConf.to_container(OmegaConf.structured(FairseqConfig()), resolve=True, enum_to_str=True)
    return {name: group for name, group in defaults.items() if isinstance(group, dict)}


def component_settings(group: str, settings: Any) -> Any:
    """Return the allowed settings of a group's component, as a name, a Namespace or a table, as they were stored."""
    if settings is None:
        return None
    if isinstance(settings, argparse.Namespace):
        return flat(vars(settings), group)
    if isinstance(settings, str):
        check_known(group, settings)
        return settings
    values = table(settings)
    name = name_in(group, values)
    component = check_known(group, name)
    return {**required_settings(component), **allowed_settings(group, component, values), "_name": name}


def flat(values: Fields, own_group: str | None = None) -> argparse.Namespace:
    """Return settings as one Namespace, as older versions of fairseq store a whole command line.

    Newer versions store components without a dataclass so; `own_group` is the group of such a component.
    """
    defaults = {name: default for group in general().values() for name, default in group.items()}
    settings = {**defaults, "dataset_impl": None}
    for group, (_, option) in NAME_FIELDS.items():
        name = name_in(group, values) if group == own_group else values.get(option)
        if name is not None:
            settings |= {**allowed_settings(group, check_known(group, name), values), option: name}
    if own_group is not None:
        settings["_name"] = settings[NAME_FIELDS[own_group][1]]
    return argparse.Namespace(**settings)
