"""Differences between the cells of one table beyond family, depth, axes and seed, from their records alone."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from realformer_nmt.comparison.grid.axes import AXES
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.model.part_names import FAMILY_OPTIONS

OF_FAMILY = ("model", *FAMILY_OPTIONS, "score_length")
OF_CELL = ("encoder_layers", "decoder_layers", "seed")
PACKAGES = ("realformer_nmt", "commit", "torch", "fairseq", "fairseq-fixed")


def settings(cells: Sequence[CellResult], along: Iterable[str] = ()) -> list[str]:
    """Return one line per setting and value that most cells do not have, without the settings of the axes.

    A family's choices are to agree within the family, all other settings anywhere."""
    expected = {*OF_CELL, *(name for axis in along for name in AXES[axis].recorded)}
    recorded: dict[str, dict[str, dict[str, object]]] = {}  # by setting, family or "", and cell
    for cell in cells:
        for name, value in flat(cell.settings):
            last = name.rpartition(".")[2]
            if last not in expected:
                family = cell.family if last in OF_FAMILY else ""
                recorded.setdefault(name, {}).setdefault(family, {})[cell.name] = value
    return [line for name, groups in recorded.items() for values in groups.values() for line in differing(name, values)]


def versions(cells: Sequence[CellResult]) -> list[str]:
    """Return one line per package and version that most cells do not have."""
    lines = []
    for package in PACKAGES:
        lines += differing(package, {cell.name: cell.versions[package] for cell in cells if package in cell.versions})
    return lines


def differing(name: str, values: Mapping[str, Any]) -> list[str]:
    """Return lines such as `dropout 0.4: admin-6-s1 (the others: 0.2)`."""
    written = {cell: json.dumps(value) for cell, value in values.items()}
    if len(set(written.values())) < 2:
        return []
    (common, _), *rarer = Counter(written.values()).most_common()
    lines = []
    for value, _ in rarer:
        names = ", ".join(cell for cell, text in written.items() if text == value)
        lines.append(f"{name} {shown(value)}: {names} (the others: {shown(common)})")
    return lines


def shown(value: str) -> str:
    return value.strip('"')


def flat(table: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings by name, those of a table within it as `table.name`."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{within}{name}.")
        else:
            yield f"{within}{name}", value
