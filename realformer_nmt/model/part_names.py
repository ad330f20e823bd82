"""The options of a family: four parts, which norm and which heads; in a module that does not import torch."""

from collections.abc import Mapping
from typing import Any

PART_NAMES = ("residual_topology", "residual_scaling", "score_source", "score_carry")
FAMILY_OPTIONS = (*PART_NAMES, "norm", "heads")
PLAIN_HEADS = (None, "plain")
BLOCKS = 8  # the default of --residual-blocks
FORMER_TOPOLOGIES = ("differential", "gated", "talking")  # of version 0.3.0: Pre-LN with such heads


def with_heads(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a model's options with heads in place of a topology of version 0.3.0."""
    topology = options.get("residual_topology")
    if topology not in FORMER_TOPOLOGIES or options.get("heads") not in PLAIN_HEADS:
        return options
    return {**options, "residual_topology": "pre", "heads": topology}


def as_recorded(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a model's options as version 0.3.0 recorded them, if it had the model, so that its trainings continue."""
    options = {name: value for name, value in options.items() if (name, value) != ("residual_blocks", BLOCKS)}
    rest = {name: value for name, value in options.items() if name != "heads"}
    heads = options.get("heads")
    if heads in PLAIN_HEADS:
        return rest
    if heads in FORMER_TOPOLOGIES and options["residual_topology"] == "pre":
        return {**rest, "residual_topology": heads}
    return options
