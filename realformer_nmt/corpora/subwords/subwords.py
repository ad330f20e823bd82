"""The functions of every subword method, by its name: learn a model, split text by it, and turn subwords into text."""

import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

from realformer_nmt.common.deferred_package import defer
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.progress import watched
from realformer_nmt.corpora.read_segments import Block, blocks
from realformer_nmt.corpora.subwords.subword_methods import METHODS, SubwordMethod

Lines = list[str]
Encoder = Callable[[Lines], Lines]  # lines to lines of subwords, separated by spaces


class TrainingTexts(NamedTuple):
    source: Path
    target: Path
    pairs: int
    quiet: bool = False  # no progress bars

    def blocks(self) -> Iterator[Block]:
        return watched(blocks(self.source, self.target), "subwords: reading", self.source, self.target, self.quiet)


REMEMBERED = 200_000  # words; about 50 MB
FileStates = tuple[tuple[int, int, int], ...]  # what differs when a file is replaced by another of the same name
STATES: dict[Path, FileStates] = {}  # of the folders of the models that this process has loaded


class TooLargeError(UserError):
    """A vocabulary larger than `most`, of all subwords that the text has."""

    def __init__(self, message: str, most: int) -> None:
        super().__init__(message)
        self.most = most


class Surface(NamedTuple):
    tokenised: Lines | None  # tokens between spaces; None if the subwords were learnt from raw text
    raw: Lines


class WordMemory:
    """An encoder that splits each different word once, and remembers it; `encode` takes words in place of lines.

    Threads may share it.
    """

    def __init__(self, encode: Encoder) -> None:
        self.encode = encode
        self.memory: dict[str, str] = {}

    def __call__(self, lines: Lines) -> Lines:
        sentences = [line.split(" ") for line in lines]
        words = set(itertools.chain.from_iterable(sentences))
        memory = self.memory  # another thread may begin a new one meanwhile
        if len(memory) > REMEMBERED:
            memory = self.memory = {}
        new = [word for word in words if word not in memory]
        memory.update(zip(new, self.encode(new), strict=True))
        return [" ".join(map(memory.__getitem__, sentence)) for sentence in sentences]


def learn_model(method: str, texts: TrainingTexts, folder: Path, size: int, workers: int) -> None:
    """Write the files of a subword model to a folder, learnt from both sides of the texts together."""
    learn: Callable[[TrainingTexts, Path, int, int], None] = resolve_name(METHODS[method].learn)
    learn(texts, folder, size, workers)


def encoder(method: SubwordMethod, folder: Path) -> Encoder:
    """Return the encoder of a subword model, one per process because of its memory."""
    return load_encoder(method, folder.absolute(), STATES.get(folder.absolute()))


@functools.cache
def load_encoder(method: SubwordMethod, folder: Path, _: FileStates | None) -> Encoder:
    defer(method.encoder.partition(".")[0])  # in each worker a --user-dir would import fairseq
    load: Callable[[Path], Encoder] = resolve_name(method.encoder)
    return load(folder)


def renew(method: SubwordMethod, folder: Path) -> None:
    """Have the model loaded again if its files were replaced. Until then a server answers by the one that it loaded."""
    statuses = [path.stat() for name in method.files if (path := folder / name).exists()]
    STATES[folder.absolute()] = tuple((status.st_ino, status.st_size, status.st_mtime_ns) for status in statuses)


def whole_words(_: Path) -> Encoder:
    """Return the encoder that leaves lines as they are."""
    return lambda lines: lines


def from_words(lines: Lines, _: Path | None, __: str) -> Surface:
    return Surface(lines, lines)


def split(lines: bytes) -> list[str]:
    return lines.decode().split("\n")[:-1]


def tagged_sources(lines: Lines, tag: str) -> Lines:
    """Return lines with a language's tag in front, if there is one, as M2M-100 (Fan et al. 2021) and NLLB-200 read it.

    Empty lines stay empty, as they are not translated."""
    return [f"{tag} {line}" if tag and line else line for line in lines]


def tagged_targets(lines: Lines, tag: str) -> Lines:
    """Return lines with the tag in front, with which fairseq-generate begins every translation (--prefix-size 1)."""
    return [f"{tag} {line}".strip(" ") if tag else line for line in lines]


def untagged(lines: Lines, tag: str) -> Lines:
    return [line.removeprefix(tag).lstrip(" ") for line in lines] if tag else lines
