"""A row of the table is a group of cells that differ in their seed alone; rows at one place are compared."""

from collections.abc import Mapping
from typing import Any

from realformer_nmt.comparison.axes import Point

Place = tuple[str, Point]  # depth, and where on the axes
Group = tuple[str, Place]  # with the family


def place(record: Mapping[str, Any]) -> Place:
    """Of a cell or a row of results.json."""
    return record["depth"], tuple(record.get("axes", {}).items())


def group(record: Mapping[str, Any]) -> Group:
    return record["family"], place(record)
