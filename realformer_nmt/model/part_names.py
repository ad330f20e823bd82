"""The options that choose the four parts. Who needs the names alone does not wait for torch."""

PART_NAMES = ("residual_topology", "residual_scaling", "score_source", "score_carry")
