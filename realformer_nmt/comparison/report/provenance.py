"""Settings and versions of the cells of a report, from their records: those that cells share, those of single cells,
and cells made with other versions than most."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from realformer_nmt.comparison.grid.axes import Group
from realformer_nmt.comparison.report.formatting import either
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow, Results, group
from realformer_nmt.comparison.results.setting_differences import PACKAGES, flat


def shared(cells: Sequence[CellResult]) -> dict[str, str]:
    """Return the settings that most cells have, with the same value wherever they are set: a cell that was not decoded
    has no beam."""
    rendered = [render(cell.settings) for cell in cells if cell.settings]
    values: dict[str, list[str]] = {}
    for cell_settings in rendered:
        for name, value in cell_settings.items():
            values.setdefault(name, []).append(value)
    return {
        name: several[0]
        for name, several in values.items()
        if len(set(several)) == 1 and 2 * len(several) > len(rendered)
    }


def unshared(cell: CellResult, shared: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a cell that are not shared."""
    return {name: value for name, value in render(cell.settings).items() if name not in shared}


def sizes(cells: Sequence[CellResult]) -> str:
    """Return `Width 64, 750 or 1,500 updates, 500 tokens per step`, as far as the records say."""
    done = {cell.curves.updates for cell in cells if cell.state == "done"}  # others may have been stopped
    numbers = {
        "width {}": recorded(cells, "encoder_embed_dim", "decoder_embed_dim"),
        "{} updates": done - {0},
        "{} tokens per step": recorded(cells, "tokens_a_step"),
        "{} sentences per step": recorded(cells, "sentences_a_step"),
    }
    text = ", ".join(label.format(either(values)) for label, values in numbers.items() if values)
    return text[:1].upper() + text[1:]


def recorded(cells: Sequence[CellResult], *names: str) -> set[int]:
    """Return the numbers that the cells have in these settings, each a number or a list of them."""
    settings = [cell.settings.get(name) for cell in cells for name in names]
    lists = [value if isinstance(value, list) else [value] for value in settings]
    return {number for values in lists for number in values if isinstance(number, int)}


def render(settings: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value, ensure_ascii=False).strip('"') for name, value in flat(settings)}


def versions(results: Results) -> dict[str, str]:
    """Return the versions of most cells; before any cell has begun, those installed here."""
    counts: dict[str, Counter[str]] = {}
    for cell in results.cells:
        for name, number in cell.versions.items():
            counts.setdefault(name, Counter())[number] += 1
    return {name: count.most_common(1)[0][0] for name, count in counts.items()} or dict(results.versions)


def of_other_versions(results: Results) -> set[Group]:
    """Return the rows with a cell that other versions made."""
    common = versions(results)
    return {
        group(cell)
        for cell in results.cells
        if any(cell.versions.get(name, common.get(name)) != common.get(name) for name in PACKAGES)
    }


def version(row: ResultRow, results: Results) -> str:
    """Return the versions of the packages that the mark refers to, several of a row joined by semicolons."""
    texts = []
    for cell in results.cells:
        if group(cell) == group(row):
            texts.append(" ".join(f"{name} {cell.versions[name]}" for name in PACKAGES if name in cell.versions))
    return "; ".join(dict.fromkeys(filter(None, texts)))
