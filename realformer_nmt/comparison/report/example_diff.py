"""Example sentences, with each system's words marked as equal to the reference's or not."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from realformer_nmt.comparison.records.cell_record import MODEL_FAILED
from realformer_nmt.comparison.report.formatting import short
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ExampleSentence, Results

SAME, OTHER, MISSING = "same", "other", "missing"


class Stretch(NamedTuple):
    """Neighbouring words of one kind."""

    text: str
    kind: str


class Version(NamedTuple):
    """Text of one system or of several."""

    systems: list[str]
    stretches: list[Stretch]


def examples(results: Results) -> list[tuple[ExampleSentence, list[Version]]]:
    """Return the example sentences with the versions of all systems."""
    cells = {cell.name: cell for cell in results.cells}
    return [(example, versions(example, cells)) for example in results.examples]


def versions(example: ExampleSentence, cells: Mapping[str, CellResult]) -> list[Version]:
    """Return each text once, with the systems that produced it; a text of more than half of them comes last."""
    systems: dict[str, list[str]] = {}
    for name, text in example.hypotheses.items():
        systems.setdefault(text, []).append(name)
    everyone = len(example.hypotheses)
    in_order = sorted(systems.items(), key=lambda item: 2 * len(item[1]) > everyone)
    return [
        Version(system_labels(names, everyone, cells), list(compared(example.reference, text)))
        for text, names in in_order
    ]


def system_labels(names: Sequence[str], everyone: int, cells: Mapping[str, CellResult]) -> list[str]:
    """Return an item per family, `admin 6, 18` and `post_ln 18 (stuck)`: the cells are all of one seed."""
    if len(names) == everyone:
        return [f"all {len(names)} systems" if len(names) > 1 else names[0]]
    if 2 * len(names) > everyone:
        return [f"all {len(names)} others"]
    families: dict[str, list[str]] = {}
    for name in names:
        cell = cells[name]
        failed = f" ({cell.state})" if cell.state in MODEL_FAILED else ""
        families.setdefault(cell.family, []).append(f"{short(cell)}{failed}")
    return [f"{family} {', '.join(depths)}" for family, depths in families.items()]


def compared(reference: str, hypothesis: str) -> Iterator[Stretch]:
    """Yield the hypothesis's words in order, and as missing those that the reference alone has."""
    expected, words = reference.split(), hypothesis.split()
    matcher = SequenceMatcher(None, expected, words, autojunk=False)
    for change, start, end, words_start, words_end in matcher.get_opcodes():
        if change == "delete":
            yield Stretch(" ".join(expected[start:end]), MISSING)
        else:
            yield Stretch(" ".join(words[words_start:words_end]), SAME if change == "equal" else OTHER)
