"""The tables that a script writes into a page, each between `<!-- table NAME -->` and `<!-- end -->`."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

END = "<!-- end -->"


def write(page: Path, tables: Mapping[str, Callable[[], str]]) -> None:
    """Write each table that the page has a place for."""
    text = page.read_text(encoding="utf-8")
    for name, table_of in tables.items():
        head, begin, rest = text.partition(f"<!-- table {name} -->")
        if begin:
            text = f"{head}{begin}\n\n{table_of()}\n{END}{rest.partition(END)[2]}"
    page.write_text(text, encoding="utf-8")


def table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    cells = list(head)
    head_line, *lines = (f"| {' | '.join(map(str, line))} |\n" for line in (cells, *rows))
    return "".join([head_line, f"|{'---|' * len(cells)}\n", *lines])


def figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def mean(values: Sequence[float]) -> str:
    """Return mean and deviation of what the seeds have."""
    shown = f"{statistics.fmean(values):.2f}"
    return f"{shown} ± {statistics.stdev(values):.2f}" if len(values) > 1 else shown
