"""The pages and the records of this repository, to compare what the pages say with what the records hold."""

import json
import string
from collections.abc import Iterable
from typing import Any

from programs.program import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"


def text(page: str) -> str:
    return (REPOSITORY / page).read_text().replace("\N{MINUS SIGN}", "-")


def says(page: str, *sentences: str) -> None:
    """Fail unless a page has each of these, wherever its lines are wrapped."""
    words = " ".join(text(page).split())
    assert [sentence for sentence in sentences if sentence not in words] == []


def table(page: str, under: str = "\n") -> list[str]:
    """Return the rows of the first table below such words, without its head."""
    _, separator, section = text(page).partition(under)
    assert separator == under
    _, *lines = section.partition("\n|---")[2].partition("\n\n")[0].splitlines()
    return [line.replace("|  |", "| |").replace("|  |", "| |") for line in lines]


def row(*cells: object) -> str:
    """Return a row of a table, in which cells may be empty."""
    return f"| {' | '.join(map(str, cells))} |".replace("|  |", "| |").replace("|  |", "| |")


def record(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return content


def span(values: Iterable[float], form: str = ".2f", between: str = " to ") -> str:
    """Return the least and the most of some figures."""
    figures = list(values)
    return f"{min(figures):{form}}{between}{max(figures):{form}}"


class Figures(string.Formatter):
    """Fields as `str.format` fills them, or times a factor as in `{0[bytes]:*1e-6 ,.0f}`, or a dash for nothing."""

    def format_field(self, value: Any, spec: str) -> str:
        if spec.startswith("*"):
            factor, _, spec = spec[1:].partition(" ")
            value *= float(factor)
        return "\N{EN DASH}" if value is None else format(value, spec)
