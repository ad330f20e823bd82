"""Names of languages, which occur in file names, between dots and hyphens, and in commands.

Every name passes `check_language` before fairseq sees it. Hyphens are allowed within a name, such as zh-Hans: the file
train.en-zh-Hans.en.idx is in the language en, which splits its pair. Where two splits are possible, as of
train.de-CH-de.de.idx, the dictionaries beside it decide.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.data_bins.prepared_folder import PreparedFolder

LANGUAGE = re.compile(r"[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")
MANY = "mul"  # ISO 639's name for several languages: both sides of data for a model that knows many
Pair = tuple[str, str]
Requested = tuple[str | None, str | None]  # languages of source and target, if the user names them


def check_language(name: object) -> None:
    if not isinstance(name, str) or not LANGUAGE.fullmatch(name):
        raise ValueError(f"{name!r} names no language: allowed are letters, digits, _ and hyphens between, such as en")


def check_languages(origin: Path | str, names: Iterable[object]) -> None:
    """Check the languages that a file, a folder or options list, which become names of files."""
    for name in names:
        try:
            check_language(name)
        except ValueError as error:
            raise UserError(f"{origin}: {error}") from error


def pair_of(index: Path) -> tuple[str, str] | None:
    """Return en and de for train.en-de.en.idx, and None for other names, such as train.align.en-de.idx."""
    pair, _, language = index.name.removesuffix(".idx").partition(".")[2].rpartition(".")
    before, after = pair.removesuffix(f"-{language}"), pair.removeprefix(f"{language}-")
    splits = {after: (language, after), before: (before, language)}  # by the other language
    possible = {other: split for other, split in splits.items() if "-".join(split) == pair}
    if not possible:
        return None
    with_dictionary = [split for other, split in possible.items() if index.with_name(f"dict.{other}.txt").is_file()]
    source, target = (with_dictionary or list(possible.values()))[0]
    check_languages(index, (source, target))
    return source, target


def pair_in(folder: Path) -> tuple[str, str]:
    """Return the only pair of languages of a data-bin."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: give the data-bin of fairseq-preprocess")
    pairs = sorted({pair for index in sorted(folder.glob("*.idx")) if (pair := pair_of(index))})
    if not pairs:
        inner = PreparedFolder(folder).data
        advice = f"; did you mean {inner}?" if inner.is_dir() else ""
        raise UserError(f"{folder} holds no binarised pair of languages, such as test.en-de.en.idx{advice}")
    if len(pairs) > 1:
        names = ", ".join("-".join(pair) for pair in pairs)
        raise UserError(
            f"{folder} holds {names}: keep each pair in a folder of its own; fairseq's own commands also choose one by "
            "--source-lang and --target-lang"
        )
    return pairs[0]


def pair_of_many(data: Path, requested: Requested, flags: Pair = ("--source-language", "--target-language")) -> Pair:
    """Return the requested pair of a model that knows many languages, each of which has a dictionary."""
    names = {path.name.removeprefix("dict.").removesuffix(".txt") for path in data.glob("dict.*.txt")} - {MANY}
    for flag, language in zip(flags, requested, strict=True):
        if language is None:
            raise UserError(f"{data} is for a model of {len(names)} languages: pass {' and '.join(flags)}")
        if language not in names:
            raise UserError(not_allowed(flag, language, sorted(names)))
    source, target = map(str, requested)
    if source == target:
        raise UserError(f"{flags[0]} {source} and {flags[1]} {target}: give two different languages")
    return source, target


def no_pair_in(folder: Path) -> tuple[str, ...]:
    """Check a data-bin with one text, and return no languages."""
    return check(folder, "a data-bin of fairseq-preprocess --only-source", ["dict.txt"], ["train.idx"])


def sentences_in(folder: Path) -> tuple[str, ...]:
    """Check a folder for --task sentence_prediction, and return no languages."""
    expected = "a folder of input0 and label, each of fairseq-preprocess --only-source"
    return check(folder, expected, ["input0/dict.txt"], ["input0/train.idx"], ["label/train.idx", "label/train.label"])


def questions_in(folder: Path) -> tuple[str, ...]:
    """Check a folder for --task question_answering, and return no languages."""
    return check(folder, "a folder of dict.txt and questions in SQuAD's format", ["dict.txt"], ["train.json"])


def check(folder: Path, expected: str, *files: list[str]) -> tuple[str, ...]:
    """Raise unless the folder has one file of each list; return no languages."""
    for names in files:
        if not any((folder / name).is_file() for name in names):
            raise UserError(f"{folder} holds no {' or '.join(names)}: give {expected}")
    return ()
