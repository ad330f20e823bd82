"""Example sentences: where each system's words are the reference's and where they are not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from realformer_nmt.comparison.groups import group
from realformer_nmt.comparison.report.wording import FAILED, Record, short

SAME, OTHER, MISSING = "same", "other", "missing"


@dataclass(frozen=True)
class Stretch:
    """Neighbouring words of one kind."""

    text: str
    kind: str


@dataclass(frozen=True)
class Version:
    """What one system or several say."""

    systems: list[str]
    stretches: list[Stretch]


@dataclass(frozen=True)
class Example:
    source: str
    reference: str
    versions: list[Version]


def examples(results: Record) -> list[Example]:
    cells = {cell["name"]: cell for cell in results["cells"]}
    return [
        Example(example["source"], example["reference"], versions(example, cells)) for example in results["examples"]
    ]


def versions(example: Record, cells: Mapping[str, Record]) -> list[Version]:
    """Each text once, with the systems that say it; where more than half say the same, they come last, uncounted."""
    systems: dict[str, list[str]] = {}
    for name, text in example["hypotheses"].items():
        systems.setdefault(text, []).append(name)
    everyone = list(example["hypotheses"])
    spoken = sorted(systems.items(), key=lambda said: 2 * len(said[1]) > len(everyone))
    return [Version(named(own, everyone, cells), list(compared(example["reference"], text))) for text, own in spoken]


def named(names: list[str], everyone: list[str], cells: Mapping[str, Record]) -> list[str]:
    """`admin 6, 18` and `post_ln 18 (stuck)`: an item a family; seeds only where those of a depth do not agree."""
    if len(names) == len(everyone):
        return [f"all {len(names)} systems" if len(names) > 1 else names[0]]
    if 2 * len(names) > len(everyone):
        return [f"all {len(names)} others"]
    families: dict[str, dict[str, None]] = {}
    for name in names:
        cell = cells[name]
        alike = [other for other in everyone if group(cells[other]) == group(cell)]
        failed = f" ({cell['state']})" if cell["state"] in FAILED else ""
        seed = "" if set(alike) <= set(names) else f" seed {cell['seed']}"
        families.setdefault(cell["family"], {})[f"{short(cell)}{seed}{failed}"] = None
    return [f"{family} {', '.join(depths)}" for family, depths in families.items()]


def compared(reference: str, hypothesis: str) -> Iterator[Stretch]:
    """The hypothesis's words in order; where the reference has words and the hypothesis none, those as missing."""
    theirs, ours = reference.split(), hypothesis.split()
    for change, start, end, own_start, own_end in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if change == "delete":
            yield Stretch(" ".join(theirs[start:end]), MISSING)
        else:
            yield Stretch(" ".join(ours[own_start:own_end]), SAME if change == "equal" else OTHER)
