"""How a corpus was prepared, as far as translating and scoring depend on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePath
from typing import Any

from realformer_nmt.common.choices import unknown
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import read as read_record
from realformer_nmt.corpora.cleaning import Steps, cleaned
from realformer_nmt.corpora.corpus import TextProtocol
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.manifest import ManifestError, build_table
from realformer_nmt.corpora.subwords import METHODS, encoder
from realformer_nmt.corpora.surface import SURFACES, Surface
from realformer_nmt.corpora.texts import Plan
from realformer_nmt.data_bins import databin
from realformer_nmt.data_bins.languages import demand_language

WRITER = "`realformer-nmt prepare` writes it when it is done"


@dataclass(frozen=True)
class Settings:
    """Those in prepare.json that tell what raw text goes through."""

    protocol: TextProtocol
    tokenised: bool


@dataclass(frozen=True)
class Report:
    """What is read of prepare.json."""

    corpus: str
    source: str
    target: str
    subwords: str
    settings: Settings
    vocabulary: int | None = None
    published: str | None = None
    parts: list | None = None  # tables with `part`, what a text was called, and `split`

    def __post_init__(self) -> None:
        for part in self.parts or []:
            if not isinstance(part, dict) or not all(isinstance(part.get(key), str) for key in ("part", "split")):
                raise ValueError(f"parts: allowed is a table with part and split, given was {part!r}")
        if self.subwords not in METHODS:
            raise ValueError(unknown("subwords", self.subwords, METHODS))
        for language in (self.source, self.target):
            demand_language(language)

    def texts(self) -> dict[str, list[str]]:
        """Names of the source files of each split, without their folders and archives."""
        found: dict[str, list[str]] = {}
        for part in self.parts or []:
            found.setdefault(part["split"], []).append(PurePath(part["part"].rpartition(":")[2]).name)
        return found


@dataclass(frozen=True)
class Preparation:
    data: Path  # the data-bin
    source: str
    target: str
    subwords: str  # of SUBWORDS
    folder: Path | None  # of the subwords' model
    steps: Steps  # that raw source text goes through before its subwords
    hyphens: str | None  # of HYPHENS, for tokenised text
    corpus: str | None = None
    prepared: Path | None = None  # the folder of all of it
    published: str | None = None  # the name of its test set in the table of published figures
    texts: Mapping[str, list[str]] = field(default_factory=dict)  # names of the source files of each split

    @property
    def languages(self) -> tuple[str, str]:
        return self.source, self.target

    def pieces(self, raw: bytes) -> list[str]:
        """Raw source text, whose lines end with line feeds, as a model of this corpus reads it."""
        lines = cleaned(raw, self.steps)
        if self.subwords == "none":
            return lines
        if self.folder is None:
            raise UserError(f"{self.subwords} needs the folder of its model: pass --subwords-folder")
        return encoder(self.subwords, self.folder)(lines)

    def surface(self, pieces: list[str]) -> Surface:
        return SURFACES[self.subwords](pieces, self.folder, self.target)

    def describe(self) -> dict[str, Any]:
        """For the record of a translation."""
        folders = {"data": self.data, "prepared": self.prepared, "subwords_folder": self.folder}
        return {
            "corpus": self.corpus,
            "published": self.published,
            "languages": [self.source, self.target],
            "subwords": self.subwords,
            "hyphens": self.hyphens,
            **{name: folder and str(folder.resolve()) for name, folder in folders.items()},
        }


def requested(options: CorpusOptions) -> Preparation:
    """Return what a prepared folder or the other options say; both are refused."""
    needed = {"--data": options.data, "--subwords": options.subwords}
    if options.prepared is None:
        missing = [flag for flag, value in needed.items() if value is None]
        if missing:
            raise UserError(f"pass --prepared FOLDER, or {' and '.join(missing)} too")
        return of_data_bin(options, options.data or Path(), options.subwords or "")
    excess = {**needed, "--subwords-folder": options.subwords_folder, "--hyphens": options.hyphens}
    for flag, value in excess.items():
        if value is not None:
            raise UserError(f"{options.prepared}/prepare.json says the same as {flag}: pass one of the two")
    return read(options.prepared)


def of_data_bin(options: CorpusOptions, data: Path, subwords: str) -> Preparation:
    """Return the preparation of a data-bin that `realformer-nmt prepare` did not make."""
    source, target = databin.languages(data)
    tokenised, hyphens = subwords in METHODS and METHODS[subwords].tokenised, options.hyphens
    if tokenised and hyphens is None:
        raise UserError(f"--subwords {subwords} is tokenised text: say how, with --hyphens aggressive or plain")
    if not tokenised and hyphens is not None:
        raise UserError(f"--subwords {subwords} is not tokenised by Moses: leave --hyphens out")
    steps = Steps(source, tokenise=hyphens)
    return Preparation(data, source, target, subwords, options.subwords_folder, steps, hyphens)


def read(folder: Path) -> Preparation:
    """Raw text goes through what the training text went through, since the model has seen no other. The papers left
    punctuation of their test sets as it was, so such a set is to be taken from the data-bin."""
    report = read_report(folder / "prepare.json")
    plan = Plan(
        report.source, report.target, report.settings.protocol, None, "refuse", report.settings.tokenised, False
    )
    steps, _ = plan.steps("train", "text")
    source, target = plan.languages
    return Preparation(
        data=folder / "data-bin",
        source=source,
        target=target,
        subwords=report.subwords,
        folder=folder / "subwords",
        steps=steps,
        hyphens=steps.tokenise,
        corpus=report.corpus,
        published=report.published,
        prepared=folder,
        texts=report.texts(),
    )


def read_report(note: Path) -> Report:
    found = _of_fields(Report, read_record(note, WRITER))
    if isinstance(found.get("settings"), dict):
        found["settings"] = _of_fields(Settings, found["settings"])
    try:
        report: Report = build_table(Report, found, "", {})
    except ManifestError as error:
        raise UserError(f"{note} is damaged, or of another version: {error}; {WRITER}") from error
    return report


def _of_fields(kind: Any, table: dict[str, Any]) -> dict[str, Any]:
    """Much more stands in prepare.json; null is what is absent."""
    return {field.name: table[field.name] for field in fields(kind) if table.get(field.name) is not None}
