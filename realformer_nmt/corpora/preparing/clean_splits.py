"""The first stage of prepare: cleaned train, valid and test texts, and the raw texts of valid and test."""

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from realformer_nmt.corpora.manifest_schema import Format, HeldOut, Lengths, TextProtocol
from realformer_nmt.corpora.parallel import ordered
from realformer_nmt.corpora.preparing.cleaning import Hyphens, Steps, cleaned, fault, without_fault
from realformer_nmt.corpora.preparing.duplicates import digest, drop_repetitions, repetitions
from realformer_nmt.corpora.preparing.prepare_record import PartCounts
from realformer_nmt.corpora.progress import watched
from realformer_nmt.corpora.read_segments import Block, Invalid, blocks

SPLITS = ("train", "valid", "test")


def is_test(split: str) -> bool:
    """Return whether a split is test, test1, test2 ..., as fairseq numbers test sets."""
    return split.startswith("test")


def splits(folder: Path, ending: str) -> list[str]:
    """Return train, valid, test, and those of test1, test2 ... whose file NAME.ending is in the folder."""
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
        prepared = not is_test(split) or self.protocol.normalise_test
        source, target = (
            cleaning_steps(language, self.protocol, self.tokenised, prepared, form) for language in self.languages
        )
        return source, target

    def lengths(self, split: str, counted: str) -> Lengths | None:
        lengths = self.protocol.lengths
        applies = split == "train" or (split == "valid" and lengths.validation)
        return lengths if applies and lengths.counted == counted else None


def cleaning_steps(
    language: str, protocol: TextProtocol, tokenised: bool, prepared: bool = True, form: Format = "text"
) -> Steps:
    """Return the steps of cleaning a text: all of the protocol's if it is `prepared`, as training text always is."""
    hyphens: Hyphens = "aggressive" if protocol.aggressive_hyphens else "plain"
    return Steps(
        language,
        normalise_punctuation=prepared and protocol.normalise_punctuation,
        straight_apostrophes=not prepared and form == "sgm",
        remove_nonprinting=prepared and protocol.remove_nonprinting,
        tokenise=hyphens if tokenised else None,
        lowercase=protocol.lowercase,
    )


class Cleaned(NamedTuple):
    indices: list[int]  # of the remaining pairs, within the block
    source: list[str]
    target: list[str]
    dropped: Counter[str]


def write_texts(
    parts: Mapping[str, Sequence[Files]], plan: Plan, workers: int, folder: Path, quiet: bool = False
) -> list[PartCounts]:
    """Write train.en, valid.en, valid.raw.en ... of all parts in order, and return the counts of each part."""
    names = [*parts, *(f"{split}.raw" for split in parts if split != "train")]
    with contextlib.ExitStack() as stack:
        output = {
            name: [stack.enter_context((folder / f"{name}.{language}").open("wb")) for language in plan.languages]
            for name in names
        }
        writer = Writer(plan, workers, output, quiet)
        tallies = [writer.write(split, files) for split in parts for files in parts[split]]
    if plan.deduplicate:
        repeated = repetitions(writer.digests["train"], writer.digests["valid"])
        texts = [folder / f"train.{language}" for language in plan.languages]
        drop_repetitions(repeated, texts, [tally for tally in tallies if tally.split == "train"])
    return tallies


class Writer:
    def __init__(self, plan: Plan, workers: int, output: Mapping[str, Sequence[BinaryIO]], quiet: bool) -> None:
        self.plan, self.workers, self.output, self.quiet = plan, workers, output, quiet
        self.digests = {"train": bytearray(), "valid": bytearray()}  # of training pairs and those held out of them
        self.pairs_read = self.pairs_cleaned = 0  # of the training parts so far

    def write(self, split: str, files: Files) -> PartCounts:
        tally = PartCounts(part=files.name, split=split)
        work = functools.partial(
            clean_block,
            steps=self.plan.steps(split, files.form),
            lengths=self.plan.lengths(split, "before_bpe"),
            valid_lengths=self.plan.lengths("valid", "before_bpe"),
            keep_all=is_test(split),
        )
        for (block, valid), result in ordered(work, self.tasks(split, files), self.workers):
            held_out = self.held_out(split, valid, result.indices)
            rest = sorted(set(range(len(result.indices))).difference(held_out))
            self.put("valid", block, result, held_out)
            self.put(split, block, result, rest)
            self.pairs_cleaned += len(result.indices)
            tally.held_out += len(held_out)
            tally.kept += len(rest)
            tally.pairs += block.pairs
            tally.invalid_utf8 += block.replaced
            tally.drop(result.dropped)
        return tally

    def tasks(self, split: str, files: Files) -> Iterator[tuple[Block, range]]:
        """Yield each block with the indices of its pairs that are held out, counted before cleaning."""
        rule = self.plan.held_out
        pairs = blocks(files.source, files.target, files.form, self.plan.invalid_utf8)
        for block in watched(pairs, f"text: {files.source.name}", files.source, files.target, self.quiet):
            if split == "train" and rule and rule.counted == "before_cleaning":
                yield block, range((-self.pairs_read - 1) % rule.every, block.pairs, rule.every)
            else:
                yield block, range(0)
            self.pairs_read += block.pairs

    def held_out(self, split: str, valid: range, indices: list[int]) -> Sequence[int]:
        """Return the positions in `indices` of the training pairs that are held out for validation."""
        rule = self.plan.held_out
        if split == "train" and rule and rule.counted == "after_cleaning":
            return range((-self.pairs_cleaned - 1) % rule.every, len(indices), rule.every)
        return [number for number, index in enumerate(indices) if index in valid] if valid else ()

    def put(self, split: str, block: Block, result: Cleaned, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        pairs = [(result.source[number], result.target[number]) for number in numbers]
        for file, lines in zip(self.output[split], zip(*pairs, strict=True), strict=True):
            file.write("".join(f"{line}\n" for line in lines).encode())
        if self.plan.deduplicate and (split == "train" or (split == "valid" and self.plan.held_out)):
            self.digests[split] += b"".join(itertools.starmap(digest, pairs))
        if split != "train":
            for file, side in zip(self.output[f"{split}.raw"], (block.source, block.target), strict=True):
                raw = side.split(b"\n")
                file.write(b"".join(raw[result.indices[number]] + b"\n" for number in numbers))


def clean_block(
    task: tuple[Block, range],
    steps: tuple[Steps, Steps],
    lengths: Lengths | None,
    valid_lengths: Lengths | None,
    keep_all: bool,
) -> Cleaned:
    block, valid = task
    source, target = (cleaned(side, step) for side, step in zip(block[:2], steps, strict=True))
    limits = (valid_lengths if index in valid else lengths for index in range(len(source)))
    faults = (None if keep_all else fault(*pair) for pair in zip(source, target, limits, strict=True))
    indices, dropped = without_fault(faults)
    return Cleaned(indices, [source[index] for index in indices], [target[index] for index in indices], dropped)
