"""The table of a grid's file before a Grid is built of it: keys in their places, depths as text."""

from collections.abc import Collection

from realformer_nmt.common.requests.toml_tables import Table, TableError

TABLES = ("axes", "budget", "failure", "override", "prepare", "slurm", "train")


def check_places(table: Table, keys: Collection[str]) -> None:
    """Refuse a key of the grid below a [table], which TOML takes for a key of that table."""
    for name, inner in table.items():
        misplaced = [key for key in inner if key in keys and key not in TABLES] if isinstance(inner, dict) else []
        if misplaced:
            raise TableError(name, f"{misplaced[0]} is a key of the grid itself: write it above the first [table]")


def with_texts(table: Table) -> Table:
    """Return the table with depths as text: layers = [6, "60-12"], or layers = 6 of an override."""
    table = {**table, **({"layers": text_of(table["layers"])} if "layers" in table else {})}
    rules = table.get("override")
    if isinstance(rules, list):
        table["override"] = [with_texts(rule) if isinstance(rule, dict) else rule for rule in rules]
    return table


def text_of(depth: object) -> object:
    if isinstance(depth, list):
        return [text_of(each) for each in depth]
    return str(depth) if type(depth) is int else depth
