"""fairseq's binarised data: how many sentences there are, their tokens, and making one of sentences."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.data_bins.index import demand_sound, header
from realformer_nmt.data_bins.languages import pair_in
from realformer_nmt.data_bins.note import demand_prepared

languages = pair_in


def files(folder: Path, *subsets: str) -> dict[str, Path]:
    """By name, with those of train1, train2 ..., which fairseq takes for parts of train."""
    parts = re.compile(rf"({'|'.join(map(re.escape, subsets))})\d*\..+\.(idx|bin)")
    return {path.name: path for path in sorted(folder.glob("*")) if parts.fullmatch(path.name)}


def count(folder: Path, subset: str, source: str, target: str) -> int:
    index = sound(folder, subset, (source, target), source)
    if index:
        return header(index)[1]
    found = sorted({path.name.partition(".")[0] for path in folder.glob("*.idx")})
    raise UserError(f"{folder} holds no subset {subset} in {source}: there are {', '.join(found) or 'none'}")


def tokens(folder: Path, subset: str, source: str, target: str) -> np.ndarray:
    """Of all targets."""
    index = sound(folder, subset, (source, target), target)
    if index is None:
        raise UserError(f"{folder} holds no subset {subset} in {target}; the data-bin has no such data")
    return np.memmap(index.with_suffix(".bin"), header(index)[0], "r")


def sound(folder: Path, subset: str, pair: tuple[str, str], language: str) -> Path | None:
    """The index, as fairseq finds it, under either order of the languages."""
    names = (f"{subset}.{one}-{two}.{language}.idx" for one, two in (pair, pair[::-1]))
    index = next((folder / name for name in names if (folder / name).is_file()), None)
    if index:
        for file in (index, index.with_suffix(".bin")):
            demand_prepared(file)
        words = folder / f"dict.{language}.txt"
        demand_sound(index, len(dictionary(words)), words)
    return index


def binarise(lines: Iterable[str], dictionaries: Path, subset: str, source: str, target: str, folder: Path) -> None:
    """A data-bin without targets, of lines of pieces, with the dictionaries of another."""
    from fairseq.data import indexed_dataset  # here: the commands' --help does not wait for it

    for language in (source, target):
        demand_prepared(dictionaries / f"dict.{language}.txt")
        shutil.copyfile(dictionaries / f"dict.{language}.txt", folder / f"dict.{language}.txt")
    words = dictionary(folder / f"dict.{source}.txt")
    prefix = folder / f"{subset}.{source}-{target}.{source}"
    builder = indexed_dataset.make_builder(f"{prefix}.bin", impl="mmap", vocab_size=len(words))
    for line in lines:
        builder.add_item(words.encode_line(line, add_if_not_exist=False))
    builder.finalize(f"{prefix}.idx")
