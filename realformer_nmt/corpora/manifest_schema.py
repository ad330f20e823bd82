"""The description of a corpus: archives, the texts in them, and the protocol that turns them into training data."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from realformer_nmt.common.files import safe_names
from realformer_nmt.data_bins.languages import check_language

# text: one segment per line; gzip: the same, compressed; sgm: lines of <seg id="...">, in .sgm and IWSLT's .xml files;
# tags: IWSLT's train.tags files, segments between lines of <url>, <talkid>, <keywords> ...
Format = Literal["text", "gzip", "sgm", "tags"]
Dataset = Literal["WMT14 En-De", "WMT14 En-Fr", "IWSLT14", "WMT"]  # of the table of published scores


@dataclass(frozen=True)
class Packing:
    """One file with an archive's members; every URL, best first, serves the same bytes."""

    urls: tuple[str, ...]
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None
    file: str | None = None  # its name on disk, if another packing has the last component of the URLs

    def __post_init__(self) -> None:
        _check(bool(self.urls) and len(set(self.urls)) == len(self.urls), "urls", "at least one URL, each once")
        for url in self.urls:
            split = urlsplit(url)
            _check(split.scheme in ("http", "https") and bool(split.hostname), "urls", "http or https URLs", url)
        _name("file", safe_names.plain, self.name)
        _check(self.bytes is None or self.bytes > 0, "bytes", "more than 0", self.bytes)
        for key, digits in ("sha256", 64), ("md5", 32):
            value = getattr(self, key)
            allowed = f"{digits} hexadecimal digits in lower case"
            _check(value is None or re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None, key, allowed, value)
        _check(bool(self.sha256 or self.md5), "sha256", "this or md5, by which the file is verified")

    @property
    def name(self) -> str:
        return self.file or _last(self.urls[0])

    @property
    def served(self) -> tuple[str, ...]:
        """The names in its URLs that are valid file names."""
        return tuple(filter(safe_names.is_plain, map(_last, self.urls)))

    @property
    def check(self) -> tuple[str, str]:
        """Hash function and digest: sha256 if there is one, else md5."""
        return ("sha256", self.sha256) if self.sha256 else ("md5", str(self.md5))


@dataclass(frozen=True)
class Archive:
    """A set of members, in one or more packings such as tgz and zip; the first packing is preferred."""

    name: str  # also of the folder it is extracted to
    packings: tuple[Packing, ...]

    def __post_init__(self) -> None:
        _name("its name", safe_names.plain, self.name)


@dataclass(frozen=True)
class Member:
    """A text in an archive, `archive:path` in a manifest; if the archive is a single file, the path is its name."""

    archive: str
    path: str

    def __str__(self) -> str:
        return f"{self.archive}:{self.path}"

    @classmethod
    def parse(cls, written: str) -> "Member":
        archive, _, path = written.partition(":")
        try:
            return cls(safe_names.plain(archive), safe_names.inside(path))
        except ValueError as error:
            raise ValueError(
                f"{written!r} is not archive:path with a path that stays in its folder: {error}"
            ) from error


@dataclass(frozen=True)
class Part:
    """Two texts whose lines are translations of each other."""

    source: Member
    target: Member
    format: Format = "text"
    subset: str | None = None  # of the data-bin, for test data alone: test, test1, test2 ...

    def __post_init__(self) -> None:
        valid = self.subset is None or re.fullmatch("test([1-9][0-9]?)?", self.subset)
        _check(bool(valid), "subset", "test, test1, test2 ...", self.subset)
        _check(self.source != self.target, "target", "another text than the source", self.target.path)


@dataclass(frozen=True)
class HeldOut:
    """Use of every n-th training pair as validation data, counted before or after cleaning."""

    every: int
    counted: Literal["before_cleaning", "after_cleaning"]

    def __post_init__(self) -> None:
        _check(self.every >= 2, "every", "2 or more", self.every)


@dataclass(frozen=True)
class Lengths:
    """Length filter: both sides have `min` to `max` tokens, and neither has more than `ratio` times the other's."""

    min: int
    max: int
    ratio: float
    counted: Literal["before_bpe", "after_bpe"]
    validation: bool  # whether validation data are filtered too

    def __post_init__(self) -> None:
        _check(1 <= self.min <= self.max, "min", "1 to max", self.min)
        _check(1 <= self.ratio < math.inf, "ratio", "1 or more, and finite", self.ratio)


@dataclass(frozen=True)
class TextProtocol:
    """The papers' text processing: Moses' steps, the length filter, the number of BPE merges."""

    normalise_punctuation: bool  # of training and validation data
    remove_nonprinting: bool  # from training and validation data
    normalise_test: bool  # whether both steps apply to test data too
    aggressive_hyphens: bool
    lowercase: bool
    bpe: int
    joined_dictionary: bool
    lengths: Lengths

    def __post_init__(self) -> None:
        _check(self.bpe > 0, "bpe", "more than 0 merges", self.bpe)


@dataclass(frozen=True)
class Corpus:
    name: str
    source: str
    target: str
    archives: tuple[Archive, ...]
    train: tuple[Part, ...]
    invalid_utf8: Literal["replace", "refuse"]
    protocol: TextProtocol
    valid: tuple[Part, ...] = ()
    test: tuple[Part, ...] = ()
    held_out: HeldOut | None = None  # as an alternative to valid
    published: Dataset | None = None

    def __post_init__(self) -> None:
        for key in ("source", "target"):
            _name(key, check_language, getattr(self, key))
        _check(self.source != self.target, "target", "another language than the source", self.target)
        _check(bool(self.train), "train", "at least one part")
        _check(bool(self.valid) != bool(self.held_out), "valid", "either parts, or held_out and no parts")
        named = [part.subset for part in self.train + self.valid if part.subset]
        _check(not named, "subset", "a key of [[test]] alone", named and named[0])
        _, _, *tests = self.splits()
        counted = ["test", *(f"test{number}" for number in range(1, len(tests)))]
        complete = tests == counted and (len(tests) == 1 or all(map(self.splits().get, tests)))
        _check(complete, "subset", f"{', '.join(counted)}, each of one part or more", ", ".join(tests))
        members = [member for part in self.parts for member in (part.source, part.target)]
        twice = _twice([str(member) for member in members])
        _check(twice is None, "train, valid, test", "each text once", twice)
        twice = _twice([packing.name for archive in self.archives for packing in archive.packings])
        _check(twice is None, "archives", "each file name once (`file` gives a packing another)", twice)

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.train + self.valid + self.test

    def splits(self) -> dict[str, tuple[Part, ...]]:
        """Return the parts of train, valid, test, and further test sets in the order of their numbers."""
        further = {part.subset for part in self.test if part.subset} - {"test"}
        names = ["test", *sorted(further, key=lambda name: int(name.removeprefix("test")))]
        tests = {name: tuple(part for part in self.test if (part.subset or "test") == name) for name in names}
        return {"train": self.train, "valid": self.valid, **tests}

    def members(self, archive: str) -> tuple[str, ...]:
        """Return the paths of an archive that the parts name, in their order."""
        sides = [side for part in self.parts for side in (part.source, part.target)]
        return tuple(side.path for side in sides if side.archive == archive)


def _twice(names: Sequence[str]) -> str | None:
    """Return the first name that equals an earlier one."""
    return next((name for number, name in enumerate(names) if name in names[:number]), None)


def _last(url: str) -> str:
    return unquote(urlsplit(url).path).rpartition("/")[2]


def _name(key: str, kind: Callable[[str], object], value: str) -> None:
    try:
        kind(value)
    except ValueError as error:
        raise ValueError(f"{key} = {error}") from error


def _check(condition: bool, key: str, allowed: str, value: object = None) -> None:
    if not condition:
        raise ValueError(f"{key}{'' if value is None else f' = {value!r}'}: allowed is {allowed}")
