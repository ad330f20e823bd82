"""The options of a family: the four parts, and which norm; in a module that does not import torch."""

PART_NAMES = ("residual_topology", "residual_scaling", "score_source", "score_carry")
FAMILY_OPTIONS = (*PART_NAMES, "norm")
