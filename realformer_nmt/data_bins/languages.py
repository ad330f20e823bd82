"""What a language may be called: its name stands between dots and hyphens in names of files, and in commands.

Every name goes through `demand_language` before fairseq sees it. Hyphens are allowed within a name, such as zh-Hans:
the file train.en-zh-Hans.en.idx is of the language en, so that its pair can be parted in one way only.
"""

import re
from pathlib import Path

from realformer_nmt.common.errors import UserError

LANGUAGE = re.compile(r"[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")


def demand_language(name: object) -> None:
    if not isinstance(name, str) or not LANGUAGE.fullmatch(name):
        raise ValueError(f"{name!r} names no language: allowed are letters, digits, _ and hyphens between, such as en")


def pair_of(index: Path) -> tuple[str, str] | None:
    """Source and target, of train.en-de.en.idx; None of a file of another name, such as train.align.en-de.idx."""
    pair, _, own = index.name.removesuffix(".idx").partition(".")[2].rpartition(".")
    if pair.startswith(f"{own}-"):
        found = own, pair.removeprefix(f"{own}-")
    elif pair.endswith(f"-{own}"):
        found = pair.removesuffix(f"-{own}"), own
    else:
        return None
    for language in found:
        try:
            demand_language(language)
        except ValueError as error:
            raise UserError(f"{index}: {error}") from error
    return found


def pair_in(folder: Path) -> tuple[str, str]:
    """The one pair of a data-bin."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: give the data-bin of fairseq-preprocess")
    pairs = sorted({pair for index in sorted(folder.glob("*.idx")) if (pair := pair_of(index))})
    if not pairs:
        raise UserError(f"{folder} holds no binarised pair of languages, such as test.en-de.en.idx")
    if len(pairs) > 1:
        told = ", ".join("-".join(pair) for pair in pairs)
        raise UserError(f"{folder} holds {told}: pass --source-lang and --target-lang, or keep a pair in a folder")
    return pairs[0]


def no_pair_in(folder: Path) -> tuple[str, ...]:
    """Of a data-bin with one text."""
    return demand(folder, "a data-bin of fairseq-preprocess --only-source", ["dict.txt"], ["train.idx"])


def sentences_in(folder: Path) -> tuple[str, ...]:
    """Of a folder for --task sentence_prediction."""
    told = "a folder of input0 and label, each of fairseq-preprocess --only-source"
    return demand(folder, told, ["input0/dict.txt"], ["input0/train.idx"], ["label/train.idx", "label/train.label"])


def questions_in(folder: Path) -> tuple[str, ...]:
    """Of a folder for --task question_answering."""
    return demand(folder, "a folder of dict.txt and questions in SQuAD's format", ["dict.txt"], ["train.json"])


def demand(folder: Path, told: str, *files: list[str]) -> tuple[str, ...]:
    """One of each; of no language."""
    for names in files:
        if not any((folder / name).is_file() for name in names):
            raise UserError(f"{folder} holds no {' or '.join(names)}: give {told}")
    return ()
