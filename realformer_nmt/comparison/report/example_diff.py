"""Example sentences, with each system's words marked as equal to the reference's or not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from realformer_nmt.comparison.records.cell_record import MODEL_FAILED
from realformer_nmt.comparison.report.formatting import short
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ExampleSentence, Results, group

SAME, OTHER, MISSING = "same", "other", "missing"


@dataclass(frozen=True)
class Stretch:
    """Neighbouring words of one kind."""

    text: str
    kind: str


@dataclass(frozen=True)
class Version:
    """Text of one system or of several."""

    systems: list[str]
    stretches: list[Stretch]


@dataclass(frozen=True)
class Example:
    source: str
    reference: str
    versions: list[Version]


def examples(results: Results) -> list[Example]:
    """Return the example sentences with the versions of all systems."""
    cells = {cell.name: cell for cell in results.cells}
    return [Example(example.source, example.reference, versions(example, cells)) for example in results.examples]


def versions(example: ExampleSentence, cells: Mapping[str, CellResult]) -> list[Version]:
    """Return each text once, with the systems that produced it; a text of more than half of them comes last."""
    systems: dict[str, list[str]] = {}
    for name, text in example.hypotheses.items():
        systems.setdefault(text, []).append(name)
    everyone = list(example.hypotheses)
    in_order = sorted(systems.items(), key=lambda item: 2 * len(item[1]) > len(everyone))
    return [
        Version(system_labels(names, everyone, cells), list(compared(example.reference, text)))
        for text, names in in_order
    ]


def system_labels(names: Sequence[str], everyone: Sequence[str], cells: Mapping[str, CellResult]) -> list[str]:
    """Return an item per family, `admin 6, 18` and `post_ln 18 (stuck)`, with the seed where the seeds of a depth
    produced other texts."""
    if len(names) == len(everyone):
        return [f"all {len(names)} systems" if len(names) > 1 else names[0]]
    if 2 * len(names) > len(everyone):
        return [f"all {len(names)} others"]
    families: dict[str, dict[str, None]] = {}
    for name in names:
        cell = cells[name]
        same_row = {other for other in everyone if group(cells[other]) == group(cell)}
        failed = f" ({cell.state})" if cell.state in MODEL_FAILED else ""
        seed = "" if same_row <= set(names) else f" seed {cell.seed}"
        families.setdefault(cell.family, {})[f"{short(cell)}{seed}{failed}"] = None
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
