"""Example sentences: where each system's words are the reference's and where they are not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from realformer_nmt.comparison.wording import FAILED, Record

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
    """Each text once, with all the systems that say it."""
    systems: dict[str, list[str]] = {}
    for name, text in example["hypotheses"].items():
        systems.setdefault(text, []).append(name)
    return [Version(named(names, cells), list(compared(example["reference"], text))) for text, names in systems.items()]


def named(names: list[str], cells: Mapping[str, Record]) -> list[str]:
    """`admin 18, seeds 1 2`; a failed training is said to be one."""
    seeds: dict[str, list[str]] = {}
    for name in names:
        cell = cells[name]
        failed = f" ({cell['state']})" if cell["state"] in FAILED else ""
        seeds.setdefault(f"{cell['family']} {cell['depth']}{failed}", []).append(str(cell["seed"]))
    return [f"{system}, seed{'s' * (len(own) > 1)} {' '.join(own)}" for system, own in seeds.items()]


def compared(reference: str, hypothesis: str) -> Iterator[Stretch]:
    """The hypothesis's words in order; where the reference has words and the hypothesis none, those as missing."""
    theirs, ours = reference.split(), hypothesis.split()
    for change, start, end, own_start, own_end in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if change == "delete":
            yield Stretch(" ".join(theirs[start:end]), MISSING)
        else:
            yield Stretch(" ".join(ours[own_start:own_end]), SAME if change == "equal" else OTHER)
