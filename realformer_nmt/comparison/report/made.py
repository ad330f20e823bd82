"""What the cells of a report were made with, by their own records: what they share, what each has of its own, and
which were made with other versions than most."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from realformer_nmt.comparison.groups import Group, group
from realformer_nmt.comparison.report.wording import MARK, Record
from realformer_nmt.comparison.unlike import PACKAGES, flat


def shared(cells: Iterable[Record]) -> dict[str, str]:
    """The settings that most cells have, and all that have them alike: what was not decoded says nothing of beams."""
    made = [render(cell["settings"]) for cell in cells if cell["settings"]]
    found: dict[str, list[str]] = {}
    for name, value in (item for own in made for item in own.items()):
        found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(set(values)) == 1 and 2 * len(values) > len(made)}


def own(cell: Record, shared: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in render(cell["settings"]).items() if name not in shared}


def render(settings: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value, ensure_ascii=False).strip('"') for name, value in flat(settings)}


def versions(results: Record) -> dict[str, str]:
    """Most cells' own; before any has begun, those at hand."""
    made = [cell["versions"] for cell in results["cells"] if cell["versions"]]
    names = dict.fromkeys(name for found in made for name in found)
    counted = {name: Counter(found[name] for found in made if name in found) for name in names}
    return {name: count.most_common(1)[0][0] for name, count in counted.items()} or dict(results["versions"])


def apart(results: Record) -> set[Group]:
    """The rows with a cell that other versions made."""
    common = versions(results)
    return {
        group(cell)
        for cell in results["cells"]
        if any(cell["versions"].get(name, common.get(name)) != common.get(name) for name in PACKAGES)
    }


def named(row: Record, results: Record) -> str:
    """The family, marked where other versions made it."""
    return row["family"] + (f" {MARK}" if group(row) in apart(results) else "")


def version(row: Record, results: Record) -> str:
    """Of all that the mark is about; of several, each."""
    of_row = [cell["versions"] for cell in results["cells"] if group(cell) == group(row)]
    told = (" ".join(f"{name} {made[name]}" for name in PACKAGES if name in made) for made in of_row)
    return "; ".join(dict.fromkeys(filter(None, told)))
