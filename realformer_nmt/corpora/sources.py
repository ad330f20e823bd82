"""What is to be prepared, and how: a corpus by its manifest or files of one's own, with what the options change."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import like
from realformer_nmt.corpora.corpus import Corpus, HeldOut, Lengths, Member, TextProtocol
from realformer_nmt.corpora.like import Like
from realformer_nmt.corpora.manifest import load, shipped
from realformer_nmt.corpora.prepare_request import Pair, PrepareRequest
from realformer_nmt.corpora.subwords import METHODS
from realformer_nmt.corpora.texts import SPLITS, Files, Plan
from realformer_nmt.data_bins.languages import demand_language

SUBWORDS = "sentencepiece"
PIECES = 32_000  # of sentencepiece, unless the user says otherwise
OWN = TextProtocol(  # for files that no manifest describes
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
class Job:
    name: str
    plan: Plan
    subwords: str
    vocabulary: int
    corpus: Corpus | None = None
    archives: Path | None = None
    own: Mapping[str, tuple[Files, ...]] | None = None
    like: Like | None = None

    def parts(self, members: Mapping[Member, Path]) -> Mapping[str, tuple[Files, ...]]:
        if self.corpus is None:
            return self.own or {}
        return {
            split: tuple(
                Files(
                    f"{part.source.archive}:{part.source.path}", members[part.source], members[part.target], part.format
                )
                for part in parts
            )
            for split, parts in self.corpus.splits().items()
        }

    def demand_pairs(self, parts: Sequence[Mapping[str, Any]]) -> None:
        """Of what became of each part: a split that was asked for and is empty would be missing without a word."""
        for split in dict.fromkeys(part["split"] for part in parts):
            own = [part for part in parts if part["split"] == split]
            if own and not sum(part["kept"] for part in own):
                named = "training pair is left" if split == "train" else f"pair is left for {split}"
                raise UserError(f"no {named} of {_became(own)}: widen the length filter, or give other files")
        if self.plan.held_out and not sum(part["held_out"] for part in parts):
            every = self.plan.held_out.every
            raise UserError(f"no pair is left for valid with --held-out {every} of {_became(parts)}: hold out more")

    def settings(self) -> dict[str, Any]:
        """All that decides what comes out, but for the files of one's own."""
        origin = describe(self.corpus) if self.corpus else {}
        return {**asdict(self.plan), **origin, "subwords": self.subwords, "vocabulary": self.vocabulary}

    def inputs(self) -> dict[str, Path]:
        """Files of one's own, by the options that named them."""
        own = {
            f"--{split} {side}{f' {number}' if number > 1 else ''}": path
            for split, parts in (self.own or {}).items()
            for number, files in enumerate(parts, 1)
            for side, path in (("SOURCE", files.source), ("TARGET", files.target))
        }
        return own | (self.like.inputs() if self.like else {})


def describe(corpus: Corpus) -> dict[str, Any]:
    """Its parts, and the hashes of the archives that hold them."""
    parts = {
        split: {str(number): f"{part.source} {part.target} {part.format}" for number, part in enumerate(parts, 1)}
        for split, parts in corpus.splits().items()
    }
    return {**parts, "archives": {archive.name: archive.packings[0].check for archive in corpus.archives}}


def _became(parts: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{part['part']} ({part['pairs']} pairs, dropped {part['dropped'] or 'none'})" for part in parts)


def job(request: PrepareRequest) -> Job:
    if request.like is None:
        return made(request)
    found = like.read(request, request.like)
    return replace(made(like.filled(request, found), found.report.settings.protocol), like=found)


def made(request: PrepareRequest, usual: TextProtocol = OWN) -> Job:
    """`usual` is for files of one's own."""
    subwords = request.subwords or SUBWORDS
    own: dict[str, Sequence[Pair]] = {"train": request.train, "valid": request.valid, "test": request.test}
    named = [
        option for option in (*SPLITS, "source", "target", "held_out") if getattr(request, option) not in (None, ())
    ]
    if request.corpus and named:
        raise UserError(
            f"CORPUS {request.corpus} and --{named[0].replace('_', '-')}: give either a corpus or your own files"
        )
    if not request.corpus:
        check_own_files(request)
    corpus = load(request.corpus) if request.corpus else None
    try:
        protocol = changed(corpus.protocol if corpus else usual, request)
        held_out = (
            corpus.held_out if corpus else HeldOut(request.held_out, "before_cleaning") if request.held_out else None
        )
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
    size = request.vocabulary or (protocol.bpe if plan.tokenised else PIECES)
    own |= {f"test{number}" if number else "test": [pair] for number, pair in enumerate(own["test"])}
    files = {split: tuple(Files(str(one), one, two, "text") for one, two in pairs) for split, pairs in own.items()}
    return Job(request.corpus or "own files", plan, subwords, size, corpus, request.archives, files)


def check_own_files(request: PrepareRequest) -> None:
    if not request.train or not request.source or not request.target:
        raise UserError(f"give CORPUS ({', '.join(shipped())}), or --source, --target and --train SOURCE TARGET")
    if bool(request.valid) == bool(request.held_out):
        raise UserError("give either --valid SOURCE TARGET or --held-out N, which takes every N-th training pair")
    for language in (request.source, request.target):
        try:
            demand_language(language)
        except ValueError as error:
            raise UserError(f"--source, --target: {error}") from error
    if request.source == request.target:
        raise UserError(f"--source {request.source} and --target {request.target}: fairseq needs two different names")


def changed(protocol: TextProtocol, request: PrepareRequest) -> TextProtocol:
    """With the options that were given in place of the protocol's."""
    flags = {name: getattr(request, name) for name in ("normalise_punctuation", "normalise_test", "lowercase")}
    limits = {
        name: getattr(request, option)
        for name, option in (("min", "min_length"), ("max", "max_length"), ("ratio", "ratio"))
    }
    lengths = replace(protocol.lengths, **{name: value for name, value in limits.items() if value is not None})
    return replace(protocol, lengths=lengths, **{name: value for name, value in flags.items() if value is not None})
