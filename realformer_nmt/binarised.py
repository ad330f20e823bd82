"""What fairseq takes for granted of a data-bin: that its files are whole, of its version, and of its dictionary.

Without, a cut file is a traceback, and words of another dictionary are other words, or an index error on a GPU.
"""

import functools
import hashlib
import inspect
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import Dictionary
from fairseq.data.huffman import HuffmanMMapIndex
from fairseq.data.indexed_dataset import IndexedDataset, MMapIndexedDataset, _code_to_dtype
from fairseq.tasks import translation
from fairseq.tasks.translation import TranslationTask

from realformer_nmt.corpora.index import HEADER
from realformer_nmt.errors import UserError, one_line

VERSION = 1
OTHER_KINDS = (IndexedDataset._HDR_MAGIC, HuffmanMMapIndex._HDR_MAGIC[:8])  # fairseq checks them itself
AGAIN = "binarise the text again with `realformer-nmt prepare`, or fairseq-preprocess"
BLOCK = 1 << 24  # numbers looked at a time


def mend() -> None:
    TranslationTask.load_dictionary = classmethod(lambda _, file: dictionary(Path(file)))
    check_before_loading()
    remember_dictionaries()


def dictionary(file: Path) -> Dictionary:
    try:
        return Dictionary.load(str(file))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; a data-bin has one for each of its languages") from error
    except Exception as error:  # fairseq has no class for any of its complaints
        raise UserError(f"{file} is no dictionary of fairseq's: {one_line(error)}; {AGAIN}") from error


def check_before_loading() -> None:
    """Of all shards only the epoch's, and of it only what fairseq is about to read."""
    original = translation.load_langpair_dataset
    signature = inspect.signature(original)

    @functools.wraps(original)
    def load_langpair_dataset(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        folder, pair = Path(given["data_path"]), (given["src"], given["tgt"])
        for language, words in zip(pair, (given["src_dict"], given["tgt_dict"]), strict=True):
            found = indices(folder, given["split"], pair, language)
            for index in found if given["combine"] else itertools.islice(found, 1):
                demand_sound(index, words, folder / f"dict.{language}.txt")
        return original(*args, **kwargs)

    translation.load_langpair_dataset = load_langpair_dataset


def indices(folder: Path, split: str, pair: tuple[str, str], language: str) -> Iterator[Path]:
    """As fairseq finds them: train, train1, train2 ..., under either order of the languages."""
    for number in itertools.count():
        names = (f"{split}{number or ''}.{one}-{two}.{language}.idx" for one, two in (pair, pair[::-1]))
        found = next((folder / name for name in names if (folder / name).is_file()), None)
        if found is None:
            return
        yield found


def demand_sound(index: Path, words: Dictionary, of: Path) -> int:
    """How many sentences there are."""
    found = header(index)
    if found is None:
        return 0
    kind, count = found
    sizes = np.fromfile(index, np.int32, count, offset=HEADER.size)
    data = index.with_suffix(".bin")
    wanted = int(sizes.sum(dtype=np.int64)) * kind.itemsize
    size = data.stat().st_size if data.is_file() else 0
    if size != wanted or index.stat().st_size != HEADER.size + 12 * count:
        raise UserError(f"{data} has {size:,} bytes, and {index.name} says {wanted:,}: it is cut off; {AGAIN}")
    numbers = np.memmap(data, kind, "r") if size else np.empty(0, kind)
    largest = max((int(numbers[at : at + BLOCK].max()) for at in range(0, len(numbers), BLOCK)), default=0)
    if largest >= len(words):
        raise UserError(
            f"{data} holds word {largest:,}, but {of} has {len(words):,}: it is another corpus's dictionary; {AGAIN}"
        )
    return count


def header(index: Path) -> tuple[np.dtype, int] | None:
    """The type of the numbers and how many sentences, or None of a kind of index that is not ours to read."""
    with index.open("rb") as file:
        read = file.read(HEADER.size)
    if read[:8] in OTHER_KINDS:
        return None
    magic, version, code, count = HEADER.unpack(read) if len(read) == HEADER.size else (b"", 0, 0, 0)
    if magic != MMapIndexedDataset.Index._HDR_MAGIC:
        raise UserError(f"{index} is no index of fairseq's, or not all of one; {AGAIN}")
    if version != VERSION or code not in _code_to_dtype:
        raise UserError(f"{index} is of version {version} with numbers of type {code}, and not of {VERSION}; {AGAIN}")
    if index.stat().st_size < HEADER.size + 12 * count:
        raise UserError(f"{index} is cut off before the last of its {count:,} sentences; {AGAIN}")
    return np.dtype(_code_to_dtype[code]), count


def remember_dictionaries() -> None:
    """A checkpoint says whose words it knows, and its languages: fairseq stores and reads the state of a task."""
    save, load = TranslationTask.state_dict, TranslationTask.load_state_dict

    @functools.wraps(save)
    def state_dict(self: Any) -> dict[str, Any]:
        languages = [self.cfg.source_lang, self.cfg.target_lang]
        return {**save(self), "dictionaries": fingerprints(self), "languages": languages}

    @functools.wraps(load)
    def load_state_dict(self: Any, state: dict[str, Any]) -> None:
        demand_same(self, state)
        load(self, state)

    TranslationTask.state_dict, TranslationTask.load_state_dict = state_dict, load_state_dict


def fingerprints(task: Any) -> dict[str, str]:
    return {side: _hashed(getattr(task, f"{side}_dictionary")) for side in ("source", "target")}


def _hashed(words: Dictionary) -> str:
    return hashlib.sha256("\n".join(words.symbols).encode(errors="surrogateescape")).hexdigest()


def demand_same(task: Any, state: Mapping[str, Any] | None) -> None:
    known = (state or {}).get("dictionaries", {})
    for side, own in fingerprints(task).items():
        if known.get(side, own) != own:
            raise UserError(
                f"the checkpoint was trained with another {side} dictionary than that of {task.cfg.data}, of the same "
                "words in another order or of others: give the data-bin of its corpus"
            )
