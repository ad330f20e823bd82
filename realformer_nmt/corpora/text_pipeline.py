"""The preparation of a corpus, as far as translating and scoring depend on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePath
from typing import Any

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import read as read_record
from realformer_nmt.common.option_choice import unknown
from realformer_nmt.corpora.clean_splits import Plan
from realformer_nmt.corpora.cleaning import Steps, cleaned
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.manifest import ManifestError, build_table
from realformer_nmt.corpora.manifest_schema import TextProtocol
from realformer_nmt.corpora.subword_methods import METHODS, learnt
from realformer_nmt.corpora.subwords import Surface, detokenise, encoder
from realformer_nmt.data_bins import subsets
from realformer_nmt.data_bins.languages import check_language

WRITER = "`realformer-nmt prepare` writes it when it is done"


@dataclass(frozen=True)
class Settings:
    """The settings in prepare.json that decide how raw text is cleaned."""

    protocol: TextProtocol
    tokenised: bool


@dataclass(frozen=True)
class Report:
    """The fields of prepare.json that are read."""

    corpus: str
    source: str
    target: str
    subwords: str
    settings: Settings
    vocabulary: int | None = None
    published: str | None = None
    parts: list | None = None  # tables with `part`, the name of a text, and `split`

    def __post_init__(self) -> None:
        for part in self.parts or []:
            if not isinstance(part, dict) or not all(isinstance(part.get(key), str) for key in ("part", "split")):
                raise ValueError(f"parts: allowed is a table with part and split, given was {part!r}")
        if self.subwords not in learnt():
            raise ValueError(unknown("subwords", self.subwords, learnt()))
        for language in (self.source, self.target):
            check_language(language)

    def texts(self) -> dict[str, list[str]]:
        """Return the names of each split's source files, without their folders and archives."""
        names: dict[str, list[str]] = {}
        for part in self.parts or []:
            names.setdefault(part["split"], []).append(PurePath(part["part"].rpartition(":")[2]).name)
        return names


@dataclass(frozen=True)
class Preparation:
    data: Path  # the data-bin
    source: str
    target: str
    subwords: str  # one of METHODS
    folder: Path | None  # of the subword model
    steps: Steps  # of cleaning raw source text, before it is split into subwords
    hyphens: str | None  # for tokenised text: aggressive or plain
    corpus: str | None = None
    prepared: Path | None = None  # the folder of `realformer-nmt prepare`
    published: str | None = None  # the name of its test set in the table of published figures
    texts: Mapping[str, list[str]] = field(default_factory=dict)  # names of the source files of each split

    @property
    def languages(self) -> tuple[str, str]:
        return self.source, self.target

    def pieces(self, raw: bytes) -> list[str]:
        """Clean raw source text, whose lines end with line feeds, and return its lines as subwords."""
        lines = cleaned(raw, self.steps)
        if self.folder is None and METHODS[self.subwords].files:
            raise UserError(f"{self.subwords} needs the folder of its model: pass --subwords-folder")
        return encoder(METHODS[self.subwords], self.folder or Path())(lines)

    def surface(self, pieces: list[str]) -> Surface:
        return detokenise(self.subwords, pieces, self.folder, self.target)

    def settings(self) -> dict[str, object]:
        """Return what decides a translation, besides the files."""
        names = ("corpus", "published", "languages", "subwords", "hyphens")
        return {**{name: getattr(self, name) for name in names}, "steps": str(self.steps)}


def requested(options: CorpusOptions) -> Preparation:
    """Return the preparation of a prepared folder or of the other options; raise if both are passed."""
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
    source, target = subsets.languages(data)
    tokenised = METHODS[subwords].tokenised
    hyphens = options.hyphens
    if tokenised and hyphens is None:
        raise UserError(f"--subwords {subwords} is tokenised text: say how, with --hyphens aggressive or plain")
    if not tokenised and hyphens is not None:
        raise UserError(f"--subwords {subwords} is not tokenised by Moses: leave --hyphens out")
    steps = Steps(source, tokenise=hyphens)
    return Preparation(data, source, target, subwords, options.subwords_folder, steps, hyphens)


def read(folder: Path) -> Preparation:
    """Read a prepared folder; raw text is cleaned as the training text was, since the model has seen no other.

    The papers did not normalise the punctuation of their test sets, so such a set is to be read from the data-bin."""
    report = read_report(folder / "prepare.json")
    plan = Plan(
        source=report.source,
        target=report.target,
        protocol=report.settings.protocol,
        held_out=None,
        invalid_utf8="refuse",
        tokenised=report.settings.tokenised,
        deduplicate=False,
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
    table = _of_fields(Report, read_record(note, WRITER))
    if isinstance(table.get("settings"), dict):
        table["settings"] = _of_fields(Settings, table["settings"])
    try:
        report: Report = build_table(Report, table, "", {})
    except ManifestError as error:
        raise UserError(f"{note} is damaged, or of another version: {error}; {WRITER}") from error
    return report


def _of_fields(kind: Any, table: dict[str, Any]) -> dict[str, Any]:
    """Return the entries that a dataclass has fields for; null counts as absent."""
    return {field.name: table[field.name] for field in fields(kind) if table.get(field.name) is not None}
