"""prepare.json and the records of the steps of `realformer-nmt prepare`, as classes."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePath

from msgspec import UNSET, Struct, UnsetType, field

from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import Fingerprint, StepRecord
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.requests.toml_tables import TableError, build
from realformer_nmt.corpora.manifest_schema import TextProtocol
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.data_bins.file_checks import WRITER
from realformer_nmt.data_bins.languages import check_language


class PartCounts(Struct, kw_only=True):
    """Numbers of one part's pairs: read, written, held out, and dropped by reason."""

    part: str  # the name of its source text
    split: str
    pairs: int = 0
    kept: int = 0
    held_out: int = 0
    invalid_utf8: int = 0
    dropped: dict[str, int] = {}

    def drop(self, reasons: Mapping[str, int]) -> None:
        self.dropped = dict(sorted((Counter(self.dropped) + Counter(reasons)).items()))


class SplitCounts(Struct, frozen=True, kw_only=True):
    """Numbers of a split's pairs, and of the subwords on each side; and of the pairs that were dropped by length."""

    pairs: int
    tokens: tuple[int, int]
    dropped: dict[str, int]


class TextRecord(StepRecord, frozen=True, kw_only=True):
    """Record of the cleaned text."""

    parts: list[PartCounts]


class SubwordsRecord(StepRecord, frozen=True, kw_only=True):
    """Record of the subword model, with the sizes and hashes of its files."""

    bytes: dict[str, int]
    sha256: dict[str, str]
    vocabulary: int | None = None  # version 0.3.0 did not record it


class SubwordTextRecord(StepRecord, frozen=True, kw_only=True):
    """Record of the text as subwords."""

    pieces: dict[str, SplitCounts]  # by split


class BinarisedRecord(StepRecord, frozen=True, kw_only=True):
    """Record of the data-bin, with the sizes and hashes of its files."""

    lines: dict[str, int]  # by split
    bytes: dict[str, int]
    sha256: dict[str, str]


class Sample(Struct, frozen=True, kw_only=True):
    """The share of the training pairs of another prepared folder, and the hash of its record."""

    share: float
    of: str


class PrepareRecord(Struct, frozen=True, kw_only=True):
    """prepare.json; a field with a default was not recorded by every version."""

    written_by: str | UnsetType = UNSET  # the command; version 0.3.0 and older did not record it
    corpus: str
    published: str | None = None  # the name of its test set in the table of published figures
    source: str
    target: str
    subwords: str
    vocabulary: int | None = None
    pairs: dict[str, int] = {}  # by split
    parts: list[PartCounts] = field(default_factory=list)
    pieces: dict[str, SplitCounts] = {}
    settings: dict[str, object]
    inputs: dict[str, Fingerprint] = {}
    bytes: dict[str, int] = {}
    sha256: dict[str, str] = {}
    seconds: dict[str, float] = {}  # by step
    workers: int | None = None
    versions: dict[str, str] = {}
    sample: Sample | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.subwords not in METHODS:
            raise ValueError(not_allowed("subwords", self.subwords, METHODS))
        for language in (self.source, self.target):
            check_language(language)
        self.protocol()

    def protocol(self) -> TextProtocol:
        """Return the settings that decide how raw text is cleaned."""
        try:
            protocol: TextProtocol = build(TextProtocol, self.settings.get("protocol"), "settings.protocol")
        except TableError as error:
            raise ValueError(str(error)) from error
        return protocol

    def texts(self) -> dict[str, list[str]]:
        """Return the names of each split's source files, without their folders and archives."""
        names: dict[str, list[str]] = {}
        for part in self.parts:
            names.setdefault(part.split, []).append(PurePath(part.part.rpartition(":")[2]).name)
        return names


def read(note: Path) -> PrepareRecord:
    return records.read(note, PrepareRecord, WRITER, sealed=False)
