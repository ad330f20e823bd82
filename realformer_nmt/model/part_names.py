"""The options of the four parts, in a module that does not import torch."""

PART_NAMES = ("residual_topology", "residual_scaling", "score_source", "score_carry")
