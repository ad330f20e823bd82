"""fairseq's binarised data: counting sentences, reading tokens, and writing a data-bin of sentences."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import sentences
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.data_bins.file_checks import check_prepared
from realformer_nmt.data_bins.index import check_sound, header
from realformer_nmt.data_bins.languages import pair_in
from realformer_nmt.data_bins.vocabulary import SYMBOLS

languages = pair_in


def files(
    folder: Path, *subsets: str, joined: Sequence[str] = (), endings: Sequence[str] = ("idx", "bin")
) -> dict[str, Path]:
    """Return the files of subsets by name; of joined ones, those of train1, train2 ... too.

    fairseq joins these parts where it trains on a subset; test and test1 are two subsets.
    """
    names = "|".join([*map(re.escape, subsets), *(rf"{re.escape(subset)}\d*" for subset in joined)])
    pattern = re.compile(rf"({names})(\..+)?\.({'|'.join(endings)})")
    return {path.name: path for path in sorted(folder.glob("*")) if pattern.fullmatch(path.name)}


def count(folder: Path, subset: str, *pair: str) -> int:
    """Return the number of source sentences of a subset; data with one text has no pair."""
    return header(sound(folder, subset, pair, *pair[:1]))[1]


def tokens(folder: Path, subset: str, *pair: str) -> np.ndarray:
    """Return the tokens of all target sentences of a subset."""
    index = sound(folder, subset, pair, *pair[1:])
    return np.memmap(index.with_suffix(".bin"), header(index)[0], "r")


def sound(folder: Path, subset: str, pair: tuple[str, ...], language: str = "") -> Path:
    """Return the checked index of a subset; as in fairseq, its name may have the languages in either order."""
    orders = ("-".join(order) for order in (pair, pair[::-1]))
    names = (".".join(filter(None, (subset, order, language, "idx"))) for order in orders)
    index = next((folder / name for name in names if (folder / name).is_file()), None)
    if index is None:
        ending, within = (f"*.{language}.idx", f" in {language}") if language else ("*.idx", "")
        subsets = sorted({path.name.partition(".")[0] for path in folder.glob(ending)})
        raise UserError(f"{folder} holds no subset {subset}{within}: there are {', '.join(subsets) or 'none'}")
    for file in (index, index.with_suffix(".bin")):
        check_prepared(file)
    path = folder / ".".join(filter(None, ("dict", language, "txt")))
    check_sound(index, len(dictionary(path)), path)
    return index


def binarise(
    lines: Sequence[str], dictionaries: Path, subset: str, source: str, target: str, folder: Path, prefix: str = ""
) -> None:
    """Write a data-bin of lines of subwords with the dictionaries of another; its targets are a prefix or absent."""
    for language in (source, target):
        check_prepared(dictionaries / f"dict.{language}.txt")
        shutil.copyfile(dictionaries / f"dict.{language}.txt", folder / f"dict.{language}.txt")
    for language, text in {source: lines, **({target: [prefix] * len(lines)} if prefix else {})}.items():
        symbols = dictionary(folder / f"dict.{language}.txt").symbols
        numbers = sentences.numbered("".join(f"{line}\n" for line in text).encode(), "\n".join(symbols[len(SYMBOLS) :]))
        sentences.write(folder / f"{subset}.{source}-{target}.{language}", len(symbols), [numbers])
