"""The four parts of an architecture: the option that selects each, and the table of its values."""

from collections.abc import Mapping
from typing import Any

from realformer_nmt.model.carry import CARRIES
from realformer_nmt.model.part_names import PART_NAMES
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.scores import SOURCES

TABLES: tuple[Mapping[str, Any], ...] = (TOPOLOGIES, SCALINGS, SOURCES, CARRIES)
PARTS = dict(zip(PART_NAMES, TABLES, strict=True))
