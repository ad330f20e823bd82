"""fairseq's binarised data: how many sentences there are, and making one of sentences."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from fairseq.data import data_utils, indexed_dataset

from realformer_nmt.binarised import demand_sound, dictionary, indices
from realformer_nmt.errors import UserError


def languages(folder: Path) -> tuple[str, str]:
    """Source and target, as fairseq itself finds them."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: give the data-bin of fairseq-preprocess")
    source, target = data_utils.infer_language_pair(str(folder))
    if source is None:
        raise UserError(f"{folder} holds no binarised pair of languages, such as test.en-de.en.idx")
    return source, target


def count(folder: Path, subset: str, source: str, target: str) -> int:
    for index in indices(folder, subset, (source, target), source):
        file = folder / f"dict.{source}.txt"
        return demand_sound(index, dictionary(file), file)
    found = sorted({path.name.partition(".")[0] for path in folder.glob("*.idx")})
    raise UserError(f"{folder} holds no subset {subset} in {source}: there are {', '.join(found) or 'none'}")


def binarise(lines: Iterable[str], dictionaries: Path, subset: str, source: str, target: str, folder: Path) -> None:
    """A data-bin without targets, of lines of pieces, with the dictionaries of another."""
    for language in (source, target):
        shutil.copyfile(dictionaries / f"dict.{language}.txt", folder / f"dict.{language}.txt")
    words = dictionary(folder / f"dict.{source}.txt")
    prefix = folder / f"{subset}.{source}-{target}.{source}"
    builder = indexed_dataset.make_builder(f"{prefix}.bin", impl="mmap", vocab_size=len(words))
    for line in lines:
        builder.add_item(words.encode_line(line, add_if_not_exist=False))
    builder.finalize(f"{prefix}.idx")
