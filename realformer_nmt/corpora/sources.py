"""What is to be prepared, and how: a corpus by its manifest or files of one's own, with what the options change."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import HUGE, real, whole
from realformer_nmt.corpora import like
from realformer_nmt.corpora.corpus import Corpus, HeldOut, Lengths, Member, TextProtocol
from realformer_nmt.corpora.like import Like
from realformer_nmt.corpora.manifest import load, shipped
from realformer_nmt.corpora.subwords import METHODS
from realformer_nmt.corpora.texts import SPLITS, Files, Plan
from realformer_nmt.data_bins.languages import demand_language

REPEATED = {"train": "may be repeated", "valid": "may be repeated", "test": "may be repeated: test, test1, test2 ..."}
SUBWORDS = "sentencepiece"
PIECES = 32_000  # of sentencepiece, unless the user says otherwise
MOST_PIECES = 1_000_000  # beyond which learning does not end
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="?", metavar="CORPUS", help=f"{', '.join(shipped())}, or FILE.toml of your own")
    parser.add_argument(
        "--archives", type=Path, metavar="DIR", help="archives that you have; they are verified and not copied"
    )
    own = parser.add_argument_group("your own files, instead of CORPUS (.gz files work too)")
    own.add_argument("--source", metavar="LANGUAGE", help="language of the first file of each pair")
    own.add_argument("--target", metavar="LANGUAGE", help="language of the second file")
    for split in SPLITS:
        own.add_argument(
            f"--{split}", nargs=2, type=Path, action="append", metavar=("SOURCE", "TARGET"), help=REPEATED[split]
        )
    own.add_argument(
        "--like", type=Path, metavar="FOLDER", help="prepare them as FOLDER was, for a model that was trained on it"
    )
    own.add_argument(
        "--held-out", type=whole(2), metavar="N", help="instead of --valid: take every N-th pair of --train"
    )
    how = parser.add_argument_group("what is done to the text (default: as CORPUS says)")
    how.add_argument("--subwords", choices=METHODS, help="default: sentencepiece, on raw text")
    how.add_argument(
        "--vocabulary",
        type=whole(1, MOST_PIECES),
        metavar="N",
        help="sentencepiece: pieces (default: 32000); moses_bpe: merges",
    )
    how.add_argument("--deduplicate", action="store_true", help="keep only the first of equal training pairs")
    for flag, told in (
        ("--normalise-punctuation", "normalise training and validation data, as Moses does"),
        ("--normalise-test", "normalise test data too, and remove non-printing characters"),
        ("--lowercase", "lower case, in all but the raw texts"),
    ):
        how.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=told)
    how.add_argument("--min-length", type=whole(1), metavar="N", help="fewest tokens on each side of a training pair")
    how.add_argument("--max-length", type=whole(1), metavar="N", help="most tokens on each side")
    how.add_argument(
        "--ratio",
        type=real(1, HUGE, "1 or more, and finite"),
        metavar="R",
        help="largest ratio of the longer side's tokens to the shorter's",
    )
    how.add_argument("--invalid-utf8", choices=("replace", "refuse"), default=None)


def job(args: argparse.Namespace) -> Job:
    if args.like is None:
        return made(args)
    found = like.read(args)
    return replace(made(like.filled(args, found), found.report.settings.protocol), like=found)


def made(args: argparse.Namespace, usual: TextProtocol = OWN) -> Job:
    """`usual` is for files of one's own."""
    subwords = args.subwords or SUBWORDS
    own = {split: getattr(args, split) or [] for split in SPLITS}
    named = [option for option in (*SPLITS, "source", "target", "held_out") if getattr(args, option) is not None]
    if args.corpus and named:
        raise UserError(
            f"CORPUS {args.corpus} and --{named[0].replace('_', '-')}: give either a corpus or your own files"
        )
    if not args.corpus:
        _demand_own(args)
    corpus = load(args.corpus) if args.corpus else None
    try:
        protocol = changed(corpus.protocol if corpus else usual, args)
        held_out = corpus.held_out if corpus else HeldOut(args.held_out, "before_cleaning") if args.held_out else None
    except ValueError as error:
        raise UserError(str(error)) from error
    plan = Plan(
        source=corpus.source if corpus else args.source,
        target=corpus.target if corpus else args.target,
        protocol=protocol,
        held_out=held_out,
        invalid_utf8=args.invalid_utf8 or (corpus.invalid_utf8 if corpus else "refuse"),
        tokenised=METHODS[subwords].tokenised,
        deduplicate=args.deduplicate,
    )
    size = args.vocabulary or (protocol.bpe if plan.tokenised else PIECES)
    own |= {f"test{number}" if number else "test": [pair] for number, pair in enumerate(own["test"])}
    files = {split: tuple(Files(str(one), one, two, "text") for one, two in pairs) for split, pairs in own.items()}
    return Job(args.corpus or "own files", plan, subwords, size, corpus, args.archives, files)


def _demand_own(args: argparse.Namespace) -> None:
    if not args.train or not args.source or not args.target:
        raise UserError(f"give CORPUS ({', '.join(shipped())}), or --source, --target and --train SOURCE TARGET")
    if bool(args.valid) == bool(args.held_out):
        raise UserError("give either --valid SOURCE TARGET or --held-out N, which takes every N-th training pair")
    for language in (args.source, args.target):
        try:
            demand_language(language)
        except ValueError as error:
            raise UserError(f"--source, --target: {error}") from error
    if args.source == args.target:
        raise UserError(f"--source {args.source} and --target {args.target}: fairseq needs two different names")


def changed(protocol: TextProtocol, args: argparse.Namespace) -> TextProtocol:
    """With the options that were given in place of the protocol's."""
    flags = {name: getattr(args, name) for name in ("normalise_punctuation", "normalise_test", "lowercase")}
    limits = {
        name: getattr(args, option)
        for name, option in (("min", "min_length"), ("max", "max_length"), ("ratio", "ratio"))
    }
    lengths = replace(protocol.lengths, **{name: value for name, value in limits.items() if value is not None})
    return replace(protocol, lengths=lengths, **{name: value for name, value in flags.items() if value is not None})
