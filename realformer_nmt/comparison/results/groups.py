"""Groups of cells that differ in their seed alone: each is a row of the table. Rows at one place are compared."""

from realformer_nmt.comparison.grid.axes import Group, Place
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow


def place(entry: CellResult | ResultRow) -> Place:
    """Return the depth and the point on the axes."""
    return entry.depth, tuple(entry.axes.items())


def group(entry: CellResult | ResultRow) -> Group:
    """Return the family and its place: what the cells of one row share."""
    return entry.family, place(entry)
