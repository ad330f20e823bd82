"""In what cells of one table differ beyond family, depth, axes and seed; by their own records, never by the grid."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from realformer_nmt.comparison.axes import AXES
from realformer_nmt.model.parts import PARTS

Record = Mapping[str, Any]  # a cell of results.json

OF_FAMILY = ("model", *PARTS, "score_length")
OF_CELL = ("encoder_layers", "decoder_layers", "seed")
PACKAGES = ("realformer_nmt", "commit", "torch", "fairseq", "fairseq-fixed")


def settings(cells: Sequence[Record], along: Iterable[str] = ()) -> list[str]:
    """One line a setting and value that is not most cells'; those of the axes stand in the table."""
    expected = {*OF_CELL, *(setting for axis in along for setting in AXES[axis].recorded)}
    made = {cell["name"]: dict(flat(cell["settings"])) for cell in cells if cell["settings"]}
    names = dict.fromkeys(name for own in made.values() for name in own)
    told = []
    for name in names:
        last = name.rpartition(".")[2]
        for group in groups(cells, last) if last not in expected else ():
            told += apart(name, {cell: made[cell][name] for cell in group if name in made.get(cell, {})})
    return told


def groups(cells: Sequence[Record], name: str) -> Iterable[list[str]]:
    """Whose values are to agree: a family's choices within the family, all others everywhere."""
    if name not in OF_FAMILY:
        return [[cell["name"] for cell in cells]]
    families = dict.fromkeys(cell["family"] for cell in cells)
    return [[cell["name"] for cell in cells if cell["family"] == family] for family in families]


def versions(cells: Sequence[Record]) -> list[str]:
    """One line a package and version that is not most cells'."""
    found = {cell["name"]: cell["versions"] for cell in cells if cell["versions"]}
    return [
        line
        for package in PACKAGES
        for line in apart(package, {name: made[package] for name, made in found.items() if package in made})
    ]


def apart(name: str, values: Mapping[str, Any]) -> list[str]:
    """dropout 0.4: admin-6-s1 (the others: 0.2)"""
    written = {cell: json.dumps(value) for cell, value in values.items()}
    if len(set(written.values())) < 2:
        return []
    (common, _), *others = Counter(written.values()).most_common()
    return [
        f"{name} {shown(value)}: {', '.join(cell for cell, own in written.items() if own == value)} "
        f"(the others: {shown(common)})"
        for value, _ in others
    ]


def shown(value: str) -> str:
    return value.strip('"')


def flat(table: Record, within: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{within}{name}.")
        else:
            yield f"{within}{name}", value
