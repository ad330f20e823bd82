"""The first stage: the texts of a corpus, cleaned, as train, valid and test, and valid and test as they were."""

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from realformer_nmt.corpora.cleaning import Hyphens, Steps, cleaned, fault
from realformer_nmt.corpora.corpus import Format, HeldOut, Lengths, TextProtocol
from realformer_nmt.corpora.duplicates import digest, repetitions
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.progress import watched
from realformer_nmt.corpora.segments import Block, Invalid, blocks

SPLITS = ("train", "valid", "test")
DIGESTS = "train.digests"


def is_test(split: str) -> bool:
    """Further test sets are test1, test2 ..., as fairseq counts them."""
    return split.startswith("test")


def splits(folder: Path, ending: str) -> list[str]:
    """Those that `folder` holds a file NAME.ending of: train, valid, test, and further test sets."""
    further = (f"test{number}" for number in itertools.count(1))
    return [*SPLITS, *itertools.takewhile(lambda name: (folder / f"{name}.{ending}").exists(), further)]


class Files(NamedTuple):
    name: str
    source: Path
    target: Path
    form: Format


@dataclass(frozen=True)
class Plan:
    source: str
    target: str
    protocol: TextProtocol
    held_out: HeldOut | None
    invalid_utf8: Invalid
    tokenised: bool
    deduplicate: bool

    @property
    def languages(self) -> tuple[str, str]:
        return self.source, self.target

    def steps(self, split: str, form: Format) -> tuple[Steps, Steps]:
        protocol = self.protocol
        prepared = not is_test(split) or protocol.normalise_test
        hyphens: Hyphens = "aggressive" if protocol.aggressive_hyphens else "plain"
        source, target = (
            Steps(
                language,
                normalise_punctuation=prepared and protocol.normalise_punctuation,
                straight_apostrophes=not prepared and form == "sgm",
                remove_nonprinting=prepared and protocol.remove_nonprinting,
                tokenise=hyphens if self.tokenised else None,
                lowercase=protocol.lowercase,
            )
            for language in self.languages
        )
        return source, target

    def lengths(self, split: str, counted: str) -> Lengths | None:
        lengths = self.protocol.lengths
        applies = split == "train" or (split == "valid" and lengths.validation)
        return lengths if applies and lengths.counted == counted else None


class Task(NamedTuple):
    block: Block
    held: range  # places of the block whose pairs are validation data, counted before cleaning


class Cleaned(NamedTuple):
    places: list[int]  # of the pairs that stay
    source: list[str]
    target: list[str]
    dropped: Counter[str]


@dataclass
class Tally:
    """What became of one part's pairs."""

    part: str
    split: str
    pairs: int = 0
    kept: int = 0
    held_out: int = 0
    invalid_utf8: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


def write_texts(
    parts: Mapping[str, Sequence[Files]], plan: Plan, workers: int, folder: Path, quiet: bool = False
) -> dict[str, Any]:
    """folder/train.en, valid.en, valid.raw.en ... of all parts in order, and what became of each part's pairs."""
    names = [*parts, *(f"{split}.raw" for split in parts if split != "train")]
    with contextlib.ExitStack() as stack:
        output = {
            name: [stack.enter_context((folder / f"{name}.{language}").open("wb")) for language in plan.languages]
            for name in names
        }
        digests = stack.enter_context((folder / DIGESTS).open("wb"))
        writer = Writer(plan, workers, output, digests, quiet)
        tallies = [writer.write(split, files) for split in parts for files in parts[split]]
    if plan.deduplicate:
        drop_repetitions(folder, plan.languages, [tally for tally in tallies if tally.split == "train"])
    (folder / DIGESTS).unlink()
    return {"parts": [{**vars(tally), "dropped": dict(sorted(tally.dropped.items()))} for tally in tallies]}


class Writer:
    def __init__(
        self, plan: Plan, workers: int, output: Mapping[str, Sequence[BinaryIO]], digests: BinaryIO, quiet: bool
    ) -> None:
        self.plan, self.workers, self.output, self.digests, self.quiet = plan, workers, output, digests, quiet
        self.read = self.kept = 0  # pairs of the training parts so far

    def write(self, split: str, files: Files) -> Tally:
        tally = Tally(files.name, split)
        work = functools.partial(
            clean_block,
            steps=self.plan.steps(split, files.form),
            lengths=self.plan.lengths(split, "before_bpe"),
            valid_lengths=self.plan.lengths("valid", "before_bpe"),
            keep_all=is_test(split),
        )
        for (block, held), result in ordered(work, self.tasks(split, files), self.workers):
            chosen = self.select(split, held, result.places)
            self.put("valid" if split == "train" else split, block, result, chosen)
            rest = sorted(set(range(len(result.places))).difference(chosen))
            if split == "train":
                self.put("train", block, result, rest)
                self.kept += len(result.places)
            tally.pairs += block.pairs
            tally.invalid_utf8 += block.replaced
            tally.held_out += len(chosen) if split == "train" else 0
            tally.kept += len(rest) if split == "train" else len(chosen)
            tally.dropped.update(result.dropped)
        return tally

    def tasks(self, split: str, files: Files) -> Iterator[Task]:
        rule = self.plan.held_out
        pairs = blocks(files.source, files.target, files.form, self.plan.invalid_utf8)
        for block in watched(pairs, f"text: {files.source.name}", files.source, files.target, self.quiet):
            if split == "train" and rule and rule.counted == "before_cleaning":
                yield Task(block, range((-self.read - 1) % rule.every, block.pairs, rule.every))
            else:
                yield Task(block, range(0))
            self.read += block.pairs

    def select(self, split: str, held: range, places: list[int]) -> Sequence[int]:
        """Which of the pairs that stay are for validation or test."""
        rule = self.plan.held_out
        if split != "train":
            return range(len(places))
        if rule and rule.counted == "after_cleaning":
            return range((-self.kept - 1) % rule.every, len(places), rule.every)
        return [number for number, place in enumerate(places) if place in held] if held else ()

    def put(self, split: str, block: Block, result: Cleaned, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        pairs = [(result.source[number], result.target[number]) for number in numbers]
        for file, lines in zip(self.output[split], zip(*pairs, strict=True), strict=True):
            file.write("".join(f"{line}\n" for line in lines).encode())
        if split == "train" and self.plan.deduplicate:
            self.digests.write(b"".join(itertools.starmap(digest, pairs)))
        if split != "train":
            for file, side in zip(self.output[f"{split}.raw"], (block.source, block.target), strict=True):
                raw = side.split(b"\n")
                file.write(b"".join(raw[result.places[number]] + b"\n" for number in numbers))


def clean_block(
    task: Task, steps: tuple[Steps, Steps], lengths: Lengths | None, valid_lengths: Lengths | None, keep_all: bool
) -> Cleaned:
    source, target = (cleaned(side, step) for side, step in zip(task.block[:2], steps, strict=True))
    dropped: Counter[str] = Counter()
    places = []
    for place, (ours, theirs) in enumerate(zip(source, target, strict=True)):
        reason = None if keep_all else fault(ours, theirs, valid_lengths if place in task.held else lengths)
        if reason is None:
            places.append(place)
        else:
            dropped[reason] += 1
    return Cleaned(places, [source[place] for place in places], [target[place] for place in places], dropped)


def drop_repetitions(folder: Path, languages: Sequence[str], tallies: Sequence[Tally]) -> None:
    """Only the first of equal training pairs stays."""
    repeated = repetitions(folder / DIGESTS)
    paths = [folder / f"train.{language}" for language in languages]
    for path in paths:
        slim = path.with_name(f"{path.name}.slim")
        with path.open("rb") as lines, slim.open("wb") as out:
            out.writelines(line for number, line in enumerate(lines) if not is_set(repeated, number))
        slim.replace(path)
    start = 0
    for tally in tallies:
        number = sum(is_set(repeated, place) for place in range(start, start + tally.kept))
        start += tally.kept
        tally.kept -= number
        tally.dropped["repeated"] += number


def is_set(bits: np.ndarray, number: int) -> bool:
    return bool(bits[number >> 3] >> (7 - (number & 7)) & 1)
