"""`realformer-nmt invent`: an English-German corpus that nobody has to download, made of a small grammar."""

import argparse
from pathlib import Path

from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.numbers import SEED, whole
from realformer_nmt.corpora.invented.chance import Chance
from realformer_nmt.corpora.invented.composer import Composer, Pair
from realformer_nmt.corpora.invented.sentences import sentence

RECORD = "invent.json"
LANGUAGES = ("en", "de")
SPLITS = {"train": "pairs", "valid": "valid", "test": "test"}  # and the option of their size
MOST = 1_000_000
EXAMPLE = """example:
  realformer-nmt invent --folder corpus --pairs 20000 --seed 1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Writes train, valid and test .en and .de, no sentence twice. The German is right by construction: gender, "
        "case, number, word order, separable verbs, compounds, negation, numerals, names. The same options give the "
        "same bytes on every platform."
    )
    parser.epilog, parser.formatter_class = EXAMPLE, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument(
        "--pairs", type=whole(1, MOST), default=20_000, metavar="N", help="training pairs (default: 20000)"
    )
    parser.add_argument(
        "--valid", type=whole(1, MOST), default=500, metavar="N", help="validation pairs (default: 500)"
    )
    parser.add_argument("--test", type=whole(1, MOST), default=500, metavar="N", help="test pairs (default: 500)")
    parser.add_argument("--seed", type=SEED, default=1)
    parser.add_argument("--anew", action="store_true", help=HELP)
    parser.add_argument("--hard", action="store_true", help="more words, longer sentences, more of what is rare")


def run(args: argparse.Namespace) -> int:
    sizes = {split: getattr(args, option) for split, option in SPLITS.items()}
    stage = asked(args)
    files = [args.folder / f"{split}.{language}" for split in SPLITS for language in LANGUAGES]
    if stage.finished(args.anew, *files):
        return 0
    made_from = stage.begin()
    made = iter(pairs(sum(sizes.values()), args.seed, *(["hard"] if args.hard else [])))
    with stage.claimed(*files):
        for split in reversed(SPLITS):  # so that the test set is the same whatever the size of the training set
            write(args.folder, split, [next(made) for _ in range(sizes[split])])
    stage.write(made_from, {"invented": sizes}, files)
    print(f"{args.folder}: " + ", ".join(f"{size:,} pairs in {split}" for split, size in sizes.items()))
    return 0


def asked(args: argparse.Namespace) -> Stage:
    names = (*SPLITS.values(), "seed", "hard")
    return Stage("invent", args.folder / RECORD, {name: getattr(args, name) for name in names}, {})


def pairs(number: int, seed: int, *more: str) -> list[Pair]:
    """As many, each with an English sentence of its own; `more` goes on with the grammar."""
    composer = Composer(Chance(seed), *more)
    found: dict[str, str] = {}
    while len(found) < number:
        english, german = sentence(composer)
        found.setdefault(english, german)
    return list(found.items())


def write(folder: Path, split: str, lines: list[Pair]) -> None:
    for language, texts in zip(LANGUAGES, zip(*lines, strict=True), strict=True):
        with completed(folder / f"{split}.{language}") as file:
            file.write("".join(f"{text}\n" for text in texts).encode())
