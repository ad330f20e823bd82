"""The job that a request of `prepare` describes: a manifest's corpus or the user's files, and how to prepare them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.manifest import load, shipped
from realformer_nmt.corpora.manifest_schema import Corpus, HeldOut, Lengths, Member, TextProtocol
from realformer_nmt.corpora.preparing import prepared_like as like
from realformer_nmt.corpora.preparing.clean_splits import SPLITS, Files, Plan
from realformer_nmt.corpora.preparing.prepare_record import PartCounts, SplitCounts
from realformer_nmt.corpora.preparing.prepare_request import Pair, PrepareRequest
from realformer_nmt.corpora.preparing.prepared_like import Like
from realformer_nmt.corpora.subwords.subword_methods import DEFAULT, METHODS
from realformer_nmt.data_bins.languages import check_languages
from realformer_nmt.data_bins.prepared_folder import TEXT

DEFAULT_PROTOCOL = TextProtocol(  # for files that no manifest describes
    normalise_punctuation=False,
    remove_nonprinting=True,
    normalise_test=True,
    aggressive_hyphens=True,
    lowercase=False,
    bpe=32_764,
    joined_dictionary=True,
    lengths=Lengths(min=1, max=250, ratio=9, counted="before_bpe", validation=False),
)


@dataclass(frozen=True)
class PrepareJob:
    """All that a preparation needs: the texts, the plan, the subword method."""

    name: str
    plan: Plan
    subwords: str
    vocabulary: int
    corpus: Corpus | None = None
    archives: Path | None = None
    own_files: Mapping[str, tuple[Files, ...]] | None = None
    like: Like | None = None

    @property
    def published(self) -> str | None:
        """Name of the corpus in the table of published figures, unless options change the text of its test set."""
        protocol, default = self.plan.protocol, self.corpus.protocol if self.corpus else None
        same = default and (protocol.lowercase, protocol.normalise_test) == (default.lowercase, default.normalise_test)
        return self.corpus.published if self.corpus and same else None

    def parts(self, members: Mapping[Member, Path]) -> Mapping[str, tuple[Files, ...]]:
        """Return the files of each split; `members` are the extracted files of the corpus."""
        if self.corpus is None:
            return self.own_files or {}
        return {
            split: tuple(
                Files(str(part.source), members[part.source], members[part.target], part.format) for part in parts
            )
            for split, parts in self.corpus.splits().items()
        }

    def check_pairs(self, parts: Sequence[PartCounts]) -> None:
        """Raise if no pair of a requested split remains: fairseq would leave the split out without a message."""
        for split in dict.fromkeys(part.split for part in parts):
            _check_split(split, [part for part in parts if part.split == split])
        if self.plan.held_out and not sum(part.held_out for part in parts):
            every = self.plan.held_out.every
            counts = _describe_counts(parts)
            raise UserError(f"no pair is left for valid with --held-out {every} of {counts}: hold out more")

    def check_encoded_pairs(self, pieces: Mapping[str, SplitCounts]) -> None:
        """Refuse texts of which the length filter in subwords leaves no pair of a split."""
        for split, counts in pieces.items():
            if counts.dropped:
                pairs = counts.pairs + sum(counts.dropped.values())
                part = PartCounts(part=f"{split} in subwords", split=split, pairs=pairs, kept=counts.pairs)
                part.drop(counts.dropped)
                _check_split(split, [part])

    def settings(self) -> dict[str, object]:
        """Return all settings that decide the result; the user's files are in `inputs`."""
        origin = describe(self.corpus) if self.corpus else {}
        return {**asdict(self.plan), **origin, "subwords": self.subwords, "vocabulary": self.vocabulary}

    def inputs(self) -> dict[str, Path]:
        """Return the user's files, by the options that named them."""
        files: dict[str, Path] = {}
        for split, parts in (self.own_files or {}).items():
            for number, part in enumerate(parts, 1):
                suffix = f" {number}" if number > 1 else ""
                files[f"--{split} SOURCE{suffix}"] = part.source
                files[f"--{split} TARGET{suffix}"] = part.target
        return files | (self.like.inputs() if self.like else {})


def describe(corpus: Corpus) -> dict[str, object]:
    """Return the parts of a corpus, and the hashes of the archives that hold them."""
    parts = {
        split: {str(number): f"{part.source} {part.target} {part.format}" for number, part in enumerate(parts, 1)}
        for split, parts in corpus.splits().items()
    }
    return {**parts, "archives": {archive.name: archive.packings[0].check for archive in corpus.archives}}


def shared_text_warning(parts: Mapping[str, Sequence[Files]]) -> str | None:
    """Return a warning if a file of the training text is also one of validation or test text."""
    training = {os.path.realpath(path) for part in parts.get("train", ()) for path in (part.source, part.target)}
    texts = [(split, path) for split in parts for part in parts[split] for path in (part.source, part.target)]
    for split, path in texts:
        if split != "train" and os.path.realpath(path) in training:
            return (
                f"{TEXT}: {path} is a text of train and of {split}: scores on it say nothing about new text; "
                "give each split text of its own"
            )
    return None


def _check_split(split: str, parts: Sequence[PartCounts]) -> None:
    if not sum(part.kept for part in parts):
        missing = "training pair is left" if split == "train" else f"pair is left for {split}"
        counts = _describe_counts(parts)
        raise UserError(f"no {missing} of {counts}: widen the length filter, or give other files")


def _describe_counts(parts: Sequence[PartCounts]) -> str:
    return ", ".join(f"{part.part} ({part.pairs} pairs, dropped {part.dropped or 'none'})" for part in parts)


def job(request: PrepareRequest) -> PrepareJob:
    """Return the job that a request describes, with the settings of the --like folder if there is one."""
    if request.like is None:
        return build_job(request)
    reference = like.read(request, request.like)
    record, (source, target) = reference.record, reference.languages
    completed = replace(request, source=source, target=target, vocabulary=record.vocabulary)
    protocol = record.protocol()
    clean = protocol.normalise_test or record.corpus in shipped()  # these leave their own test set alone
    return replace(build_job(completed, replace(protocol, normalise_test=clean), record.subwords), like=reference)


def build_job(
    request: PrepareRequest, default_protocol: TextProtocol = DEFAULT_PROTOCOL, default_subwords: str = DEFAULT
) -> PrepareJob:
    """Build the job of a request without --like; `default_protocol` applies to the user's own files."""
    if request.corpus:
        check_no_own_files(request)
    else:
        check_own_files(request)
    corpus = load(request.corpus) if request.corpus else None
    subwords = request.subwords or default_subwords
    try:
        protocol = with_options(corpus.protocol if corpus else default_protocol, request)
        held_out = corpus.held_out if corpus else None
        if request.held_out and not corpus:
            held_out = HeldOut(request.held_out, "before_cleaning")
    except ValueError as error:
        raise UserError(str(error)) from error
    plan = Plan(
        source=corpus.source if corpus else request.source or "",
        target=corpus.target if corpus else request.target or "",
        protocol=protocol,
        held_out=held_out,
        invalid_utf8=request.invalid_utf8 or (corpus.invalid_utf8 if corpus else "refuse"),
        tokenised=METHODS[subwords].tokenised,
        deduplicate=request.deduplicate,
    )
    return PrepareJob(
        name=request.corpus or "own files",
        plan=plan,
        subwords=subwords,
        vocabulary=request.vocabulary or METHODS[subwords].vocabulary or protocol.bpe,
        corpus=corpus,
        archives=request.archives,
        own_files=own_files(request),
    )


def own_files(request: PrepareRequest) -> dict[str, tuple[Files, ...]]:
    """Return the user's files of each split; each test set after the first is a split: test1, test2 ..."""
    pairs: dict[str, Sequence[Pair]] = {"train": request.train, "valid": request.valid, "test": request.test}
    pairs |= {f"test{number}" if number else "test": [pair] for number, pair in enumerate(request.test)}
    return {
        split: tuple(Files(str(source), source, target, "text") for source, target in pairs_of_split)
        for split, pairs_of_split in pairs.items()
    }


def check_no_own_files(request: PrepareRequest) -> None:
    for option in (*SPLITS, "source", "target", "held_out"):
        if getattr(request, option) not in (None, ()):
            flag = f"--{option.replace('_', '-')}"
            raise UserError(f"CORPUS {request.corpus} and {flag}: give either a corpus or your own files")


def check_own_files(request: PrepareRequest) -> None:
    if not request.train or not request.source or not request.target:
        raise UserError(f"give CORPUS ({', '.join(shipped())}), or --source, --target and --train SOURCE TARGET")
    if request.archives:
        raise UserError(f"--archives {request.archives}: your own files have no archives; leave it out or give CORPUS")
    if bool(request.valid) == bool(request.held_out):
        raise UserError("give either --valid SOURCE TARGET or --held-out N, which takes every N-th training pair")
    check_languages("--source, --target", (request.source, request.target))
    if request.source == request.target:
        raise UserError(f"--source {request.source} and --target {request.target}: fairseq needs two different names")
    for split in SPLITS:
        for source, target in getattr(request, split):
            if (language_in(source), language_in(target)) == (request.target, request.source):
                raise UserError(
                    f"--{split} {source} {target}: --source is {request.source} and --target {request.target}, and "
                    "the names of the files say the other order: swap the files, or the languages"
                )


def language_in(file: Path) -> str:
    """Return the language that a file's name ends with, such as en of a.en or a.en.gz."""
    return file.name.removesuffix(".gz").rpartition(".")[2]


def with_options(protocol: TextProtocol, request: PrepareRequest) -> TextProtocol:
    """Return the protocol with the options of the request in place of its values."""
    names = ("normalise_punctuation", "remove_nonprinting", "normalise_test", "lowercase")
    flags = {name: getattr(request, name) for name in names}
    lengths = replace(
        protocol.lengths,
        min=request.min_length or protocol.lengths.min,
        max=request.max_length or protocol.lengths.max,
        ratio=request.ratio or protocol.lengths.ratio,
    )
    return replace(protocol, lengths=lengths, **{name: value for name, value in flags.items() if value is not None})
