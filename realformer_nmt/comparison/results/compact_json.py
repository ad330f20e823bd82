"""Compact form of results.json: what all cells share stands once, points stand in columns, and a cell is one line."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

SHARED = "shared"  # key of the tables below, each with the entries that all cells have
TABLES = ("settings", "versions")
Table = Mapping[str, Any]


def compact(content: Table) -> Table:
    """Return the content of results.json in its compact form."""
    shared = {name: shared_entries([cell[name] for cell in content["cells"]]) for name in TABLES}
    return {**content, SHARED: shared, "cells": [compact_cell(cell, shared) for cell in content["cells"]]}


def expanded(content: Table) -> Table:
    """Return the content with every cell complete."""
    return {**content, "cells": [expanded_cell(cell, content[SHARED]) for cell in content["cells"]]}


def shared_entries(tables: Sequence[Table]) -> Table:
    """Return the entries that have the same JSON in all tables: 1 is neither 1.0 nor true."""
    common = set.intersection(*({(name, line(value)) for name, value in table.items()} for table in tables))
    return {name: value for name, value in tables[0].items() if (name, line(value)) in common}


def compact_cell(cell: Table, shared: Mapping[str, Table]) -> Table:
    tables = {key: {name: value for name, value in cell[key].items() if name not in shared[key]} for key in TABLES}
    curves = {name: columns(points) for name, points in cell["curves"].items()}
    return {**cell, **tables, "curves": curves, "shortcuts": columns(cell["shortcuts"])}


def expanded_cell(cell: Table, shared: Mapping[str, Table]) -> Table:
    tables = {name: {**entries, **cell[name]} for name, entries in shared.items()}
    curves = {name: rows(values) for name, values in cell["curves"].items()}
    return {**cell, **tables, "curves": curves, "shortcuts": rows(cell["shortcuts"])}


def columns(points: Sequence[Table]) -> Table:
    """Return a list of values per name that any point has a value for."""
    names = dict.fromkeys(name for point in points for name, value in point.items() if value is not None)
    return {name: [point.get(name) for point in points] for name in names}


def rows(values: Mapping[str, Sequence[object]]) -> list[Table]:
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def text(content: Table) -> str:
    """Return JSON with a line per key, and a line per element of a list."""
    lines = ",\n".join(f"{line(name)}:{block(value)}" for name, value in content.items())
    return f"{{\n{lines}\n}}\n"


def block(value: object) -> str:
    lines = ",\n".join(map(line, value)) if isinstance(value, list) else ""
    return f"[\n{lines}\n]" if lines else line(value)


def line(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
