"""The four parts of an architecture: the option that chooses each, and the table that it chooses from."""

from collections.abc import Mapping
from typing import Any

from realformer_nmt.model.carry import CARRIES
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.scores import SOURCES

PARTS: dict[str, Mapping[str, Any]] = {
    "residual_topology": TOPOLOGIES,
    "residual_scaling": SCALINGS,
    "score_source": SOURCES,
    "score_carry": CARRIES,
}
