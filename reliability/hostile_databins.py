"""Data-bins that nobody's preparation writes: indexes made by hand, and names that a shell would read."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from realformer_nmt.data_bins.index import HEADER, MAGIC

SIDE = "train.src-tgt.src"
LANGUAGES = ("$(touch${IFS}pwned)", "a b", "`id`", "-de", "d\n", "d\u00e9", "a.b", "*", "")
FASTA = ">a\nACGT\n"


class Hostile(NamedTuple):
    name: str
    data: Path
    file: str  # that must be named


class Index(NamedTuple):
    code: int  # of the numbers' type
    sizes: Any
    places: Any
    words: Any

    def write(self, prefix: Path) -> None:
        header = HEADER.pack(MAGIC, 1, self.code, len(self.sizes))
        lists = np.asarray(self.sizes, "<i4").tobytes() + np.asarray(self.places, "<i8").tobytes()
        Path(f"{prefix}.idx").write_bytes(header + lists)
        Path(f"{prefix}.bin").write_bytes(self.words.tobytes())


def read(prefix: Path) -> Index:
    whole = Path(f"{prefix}.idx").read_bytes()
    _, _, code, count = HEADER.unpack(whole[: HEADER.size])
    sizes = np.frombuffer(whole, "<i4", count, HEADER.size)
    places = np.frombuffer(whole, "<i8", count, HEADER.size + 4 * count)
    return Index(code, sizes, places, np.fromfile(f"{prefix}.bin", "<u2"))


def indexes(data: Path, folder: Path) -> Iterator[Hostile]:
    good = read(data / SIDE)
    for name, index in odd_indexes(good).items():
        data_bin = shutil.copytree(data, folder / name)
        index.write(data_bin / SIDE)
        yield Hostile(name, data_bin, SIDE)
    for name, header in headers(good).items():
        data_bin = shutil.copytree(data, folder / name)
        whole = (data_bin / f"{SIDE}.idx").read_bytes()
        (data_bin / f"{SIDE}.idx").write_bytes(header + whole[len(header) :] if header else b"")
        yield Hostile(name, data_bin, SIDE)


def odd_indexes(good: Index) -> dict[str, Index]:
    """Return indexes whose lengths, places or words cannot be."""
    code, sizes, places, words = good
    half, last = len(sizes) // 2, np.flatnonzero(words == words.max())[0]
    return {
        "a negative length": good._replace(sizes=change(sizes, {0: -1, 1: sizes[0] + sizes[1] + 1})),
        "lengths of the same sum": good._replace(sizes=change(sizes, {0: sizes[0] + 1, 1: sizes[1] - 1})),
        "an empty sentence": Index(code, np.append(sizes, 0), np.append(places, 2 * sizes.sum()), words),
        "no sentence": Index(code, sizes[:0], places[:0], words[:0]),
        "a wild place": good._replace(places=change(places, {half: 1 << 62})),
        "a place twice": good._replace(places=change(places, {half: places[half - 1]})),
        "an odd place": good._replace(places=change(places, {half: places[half] + 1})),
        "all at one place": good._replace(places=places * 0),
        "fractions": Index(7, sizes, places * 4, words.astype("f8")),
        "an unknown type": good._replace(code=11),
        "a negative word": Index(3, sizes, places, change(words.astype("<i2"), {last: -1})),
        "a word beyond the dictionary": good._replace(words=change(words, {last: 60000})),
        "a word beyond 2^63": Index(10, sizes, places * 4, change(words.astype("<u8"), {last: 1 << 63})),
    }


def headers(good: Index) -> dict[str, bytes]:
    count = len(good.sizes)
    return {
        "2^64 - 1 sentences": HEADER.pack(MAGIC, 1, good.code, 2**64 - 1),
        "another version": HEADER.pack(MAGIC, 2, good.code, count),
        "huffman": HEADER.pack(b"HUFFIDX\x00\x00", 1, good.code, count),
        "nothing": b"",
    }


def names(data: Path, folder: Path) -> Iterator[Hostile]:
    """Languages that are none with their sentences as .fasta, and files that are none."""
    for number, language in enumerate(LANGUAGES):
        yield Hostile(
            f"language {language!r}", rename(data, folder / f"language{number}", language), f".src-{language}"
        )
    for name in ("plain", "$(touch pwned)"):
        data_bin = shutil.copytree(data, folder / name)
        for suffix in ("idx", "bin"):
            (data_bin / f"train.src-tgt.tgt.{suffix}").unlink()
        (data_bin / "train.src-tgt.tgt.fasta").write_text(FASTA)
        yield Hostile(f"fasta in {name}", data_bin, "train.src-tgt.tgt.fasta")
    for name, place in PLACES.items():
        data_bin = shutil.copytree(data, folder / name)
        file = data_bin / f"train.src-tgt.tgt{name.partition(' ')[0]}"
        file.unlink(missing_ok=True)
        place(file)
        yield Hostile(name, data_bin, "train.src-tgt.tgt")


PLACES: dict[str, Callable[[Path], Any]] = {
    ".fasta as a link": lambda file: file.symlink_to("dict.src.txt"),
    ".idx as a folder": Path.mkdir,
    ".bin as a pipe": os.mkfifo,
    ".bin as a device": lambda file: file.symlink_to("/dev/zero"),
}


def rename(data: Path, folder: Path, language: str) -> Path:
    """A data-bin whose target has another name, its sentences as .fasta."""
    folder.mkdir(parents=True)
    for file in data.glob("*src*"):
        if "tgt.tgt" not in file.name:
            shutil.copy(file, folder / file.name.replace("tgt", language))
    shutil.copy(data / "dict.tgt.txt", folder / f"dict.{language}.txt")
    (folder / f"train.src-{language}.{language}.fasta").write_text(FASTA)
    return folder


def change(numbers: Any, values: dict[Any, Any]) -> Any:
    copy = numbers.copy()
    for at, value in values.items():
        copy[at] = value
    return copy
