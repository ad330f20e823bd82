"""The four parts of an architecture: the option that selects each, and the table of its values."""

from collections.abc import Mapping
from typing import Any

from realformer_nmt.model.attention.carry import CARRIES
from realformer_nmt.model.attention.scores import SOURCES
from realformer_nmt.model.part_names import PART_NAMES
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS

TABLES: tuple[Mapping[str, Any], ...] = (TOPOLOGIES, SCALINGS, SOURCES, CARRIES)
PARTS = dict(zip(PART_NAMES, TABLES, strict=True))
