#!/usr/bin/env python3
"""Write a synthetic English-German corpus from a small grammar: train, valid and test .en and .de, no sentence twice.

The German is right by construction: gender, case, number, word order, separable verbs, compounds, negation, numerals,
names. The same options give the same bytes on every platform.
"""

import argparse
from pathlib import Path

from grammar.chance import Chance
from grammar.composer import Composer, Pair
from grammar.sentences import sentence

from realformer_nmt.common.files.text_lines import read_lines, write_lines

LANGUAGES = ("en", "de")


def pairs(number: int, seed: int, *more: str) -> list[Pair]:
    """Return that many pairs, no English sentence twice; `more` are grammar files beside grammar.toml."""
    composer = Composer(Chance(seed), *more)
    translations: dict[str, str] = {}
    while len(translations) < number:
        english, german = sentence(composer)
        translations.setdefault(english, german)
    return list(translations.items())


def write_corpus(folder: Path, sizes: dict[str, int], seed: int, *more: str) -> None:
    """Write the splits; the test set is drawn first, so that it does not depend on the size of the training set."""
    sentences = iter(pairs(sum(sizes.values()), seed, *more))
    texts: dict[Path, tuple[str, ...]] = {}
    for split in reversed(sizes):
        sides = zip(*(next(sentences) for _ in range(sizes[split])), strict=True)
        texts |= {folder / f"{split}.{language}": lines for language, lines in zip(LANGUAGES, sides, strict=True)}
    for file, lines in texts.items():
        if file.exists() and read_lines(file) != [*lines]:
            raise SystemExit(f"{file} holds another text: name another --folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    for file, lines in texts.items():
        write_lines(file, lines)


def at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the files are written")
    for split, size in (("train", 20_000), ("valid", 500), ("test", 500)):
        parser.add_argument(f"--{split}", type=at_least_one, default=size, help=f"pairs (default: {size})")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sentences (default: 1)")
    parser.add_argument("--hard", action="store_true", help="more words, longer sentences, more of what is rare")
    options = parser.parse_args()
    sizes = {"train": options.train, "valid": options.valid, "test": options.test}
    write_corpus(options.folder, sizes, options.seed, *(["hard"] if options.hard else []))
    print(f"{options.folder}: " + ", ".join(f"{size:,} pairs in {split}" for split, size in sizes.items()))


if __name__ == "__main__":
    main()
