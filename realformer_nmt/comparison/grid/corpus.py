"""Where a comparison's text comes from: a corpus that it prepares itself, a prepared one, or a data-bin alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.request import Request
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.prepare_request import PrepareRequest
from realformer_nmt.corpora.sample import SampleRequest
from realformer_nmt.corpora.text_pipeline import read_report
from realformer_nmt.data_bins.prepare_record import NAME as NOTE
from realformer_nmt.protocols.tasks import TASKS, TRANSLATION


@dataclass(frozen=True)
class Options:
    """A grid's [prepare]: how `realformer-nmt prepare` prepares; where and what, the command line and `corpus` say."""

    subwords: Literal["sentencepiece", "moses_bpe"] = "sentencepiece"
    vocabulary: int | None = None
    deduplicate: bool | None = None
    normalise_punctuation: bool | None = None
    normalise_test: bool | None = None
    lowercase: bool | None = None
    min_length: int | None = None
    max_length: int | None = None
    ratio: float | None = None
    invalid_utf8: Literal["replace", "refuse"] | None = None
    workers: int | None = None
    keep: bool | None = None
    quiet: bool | None = None

    def request(self, corpus: str, folder: Path, archives: Path | None) -> PrepareRequest:
        """Return the preparation of a corpus in a folder."""
        chosen = {name: value for name, value in vars(self).items() if value is not None}
        return PrepareRequest(corpus=corpus, folder=folder, archives=archives, **chosen)


class Known(NamedTuple):
    """What is known of a corpus before it is prepared, for the protocol of its training."""

    corpus: str | None = None
    subwords: str | None = None


NO_OPTIONS, UNKNOWN = CorpusOptions(), Known()


@dataclass(frozen=True)
class Corpus:
    """A text to train and to score on, with the options that each command needs for it."""

    name: str
    data: Path  # the data-bin
    text: CorpusOptions = NO_OPTIONS
    known: Known = UNKNOWN  # where no prepare.json says it yet
    references: Mapping[str, Path] = field(default_factory=dict)  # of subsets, where `prepare` did not note them
    prepare: PrepareRequest | None = None
    languages: tuple[str, ...] | None = None  # source and target, where they are known before it is prepared
    samples: Path = Path()  # the folder of the corpora with a share of its pairs
    task: str = TRANSLATION

    def pair(self) -> tuple[str, ...]:
        return self.languages or TASKS[self.task].languages(self.data)

    def reference(self, subset: str) -> Path | None:
        return self.references.get(subset)

    def sample(self, share: float) -> "Corpus":
        """For training alone: translating and scoring are the same. 1 is all of it."""
        return self if share == 1 else replace(self, data=self.samples / f"data-{share:g}" / self.data.name)

    def preparations(self, shares: Sequence[float]) -> list[Request]:
        """Return what makes it if it is not there, and its samples, each of which is refused if it is there of other
        pairs."""
        requests: list[Request] = [] if self.prepare is None or self.ready else [self.prepare]
        for share in shares:
            if share != 1:
                to = self.sample(share).data.parent
                requests.append(SampleRequest(prepared=self.data.parent, share=share, folder=to))
        return requests

    def missing(self, shares: Sequence[float]) -> bool:
        notes = [self.sample(share).data.parent / NOTE for share in shares if share != 1]
        return not self.ready or not all(note.is_file() for note in notes)

    @property
    def ready(self) -> bool:
        return self.prepare is None or (self.data.parent / NOTE).is_file()


def find(grid: Grid, given: Path | None, archives: Path | None, folder: Path) -> Corpus:
    said = [name for name in ("corpus", "prepared", "data") if getattr(grid, name)]
    if given and said:
        raise UserError(f"--prepared {given}, but {grid.name}.toml says {said[0]}: leave one of them out")
    if not given and not said:
        raise UserError(f"{grid.name}.toml names no corpus, prepared or data: pass --prepared FOLDER")
    if archives and not grid.corpus:
        raise UserError("--archives is for a corpus that is prepared here: leave it out")
    if grid.data:
        return binarised(grid)
    if grid.corpus:
        found = to_prepare(grid, grid.corpus, archives, folder / "data")
    else:
        found = prepared(given or grid.path(grid.prepared or ""))
    return replace(found, samples=folder)


def to_prepare(grid: Grid, corpus: str, archives: Path | None, folder: Path) -> Corpus:
    named = str(grid.path(corpus)) if corpus.endswith(".toml") else corpus
    found = manifest.load(named)
    how = options(grid)
    known = Known(found.name, how.subwords) if found.name in manifest.shipped() else UNKNOWN
    return Corpus(
        found.name,
        folder / "data-bin",
        text=CorpusOptions(prepared=folder),
        known=known,
        prepare=how.request(named, folder, archives),
        languages=(found.source, found.target),
    )


def options(grid: Grid) -> Options:
    table = {name.replace("-", "_"): value for name, value in (grid.prepare or {}).items()}
    try:
        found: Options = manifest.build_table(Options, table, "prepare", {})
    except manifest.ManifestError as error:
        raise UserError(f"{grid.name}.toml: {error}") from error
    return found


def prepared(folder: Path) -> Corpus:
    note = folder / NOTE
    if not note.is_file():
        raise UserError(f"{note}: no such file; `realformer-nmt prepare --folder {folder}` writes it when it is done")
    name = read_report(note).corpus
    return Corpus(Path(name).name.removesuffix(".toml"), folder / "data-bin", text=CorpusOptions(prepared=folder))


def binarised(grid: Grid) -> Corpus:
    said = grid.data
    if said is None:
        raise UserError(f"{grid.name}.toml has no [data]")
    folder = grid.path(said.folder)
    subwords_folder = grid.path(said.subwords_folder) if said.subwords_folder else None
    text = CorpusOptions(data=folder, subwords=said.subwords, subwords_folder=subwords_folder, hyphens=said.hyphens)
    files = {grid.subsets[0]: said.reference, **(said.references or {})}
    references = {subset: grid.path(file) for subset, file in files.items()}
    return Corpus(folder.name, folder, text=text, references=references)
