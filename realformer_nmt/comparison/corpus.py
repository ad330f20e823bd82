"""Where a comparison's text comes from: a corpus that it prepares itself, a prepared one, or a data-bin alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.preparation import read_report
from realformer_nmt.data_bins.note import NAME as NOTE
from realformer_nmt.protocols.command import flags
from realformer_nmt.protocols.tasks import TASKS, TRANSLATION

SWITCHES = ("normalise-punctuation", "normalise-test", "lowercase")  # which a corpus may turn on


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

    def words(self) -> list[str]:
        """What is false by itself has no --no-."""
        given = {name.replace("_", "-"): value for name, value in vars(self).items() if value is not None}
        refused = [f"--no-{name}" for name, value in given.items() if value is False and name in SWITCHES]
        return [*flags(given), *refused]


@dataclass(frozen=True)
class Corpus:
    """With the options that each command needs for it."""

    name: str
    data: Path  # the data-bin
    translate: tuple[str, ...]
    train: tuple[str, ...] = ()
    references: tuple[tuple[str, str], ...] = ()  # subset and raw text, where `prepare` did not note them
    prepare: tuple[str, ...] = ()  # the whole command
    languages: tuple[str, ...] | None = None  # source and target, where they are known before it is prepared
    samples: Path = Path()  # the folder of the corpora with a share of its pairs
    task: str = TRANSLATION

    def pair(self) -> tuple[str, ...]:
        return self.languages or TASKS[self.task].languages(self.data)

    def score(self, subset: str) -> tuple[str, ...]:
        return tuple(word for name, file in self.references if name == subset for word in ("--reference", file))

    def sample(self, share: float) -> "Corpus":
        """For training alone: translating and scoring are the same. 1 is all of it."""
        return self if share == 1 else replace(self, data=self.samples / f"data-{share:g}" / self.data.name)

    def commands(self, shares: Sequence[float]) -> list[tuple[str, ...]]:
        """What makes it if it is not there, and its samples, each of which is refused if it is there of other pairs."""
        of = str(self.data.parent)
        folders = {share: str(self.sample(share).data.parent) for share in shares if share != 1}
        made: list[tuple[str, ...]] = [] if self.ready else [self.prepare]
        return [*made, *(("sample", of, "--share", f"{share:g}", "--folder", to) for share, to in folders.items())]

    def missing(self, shares: Sequence[float]) -> bool:
        notes = [self.sample(share).data.parent / NOTE for share in shares if share != 1]
        return not self.ready or not all(note.is_file() for note in notes)

    @property
    def ready(self) -> bool:
        return not self.prepare or (self.data.parent / NOTE).is_file()


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
    words = ["prepare", named, "--folder", str(folder), *how.words()]
    words += ["--archives", str(archives)] if archives else []
    train = ("--corpus", found.name, "--subwords", how.subwords) if found.name in manifest.shipped() else ()
    translate = ("--prepared", str(folder))
    languages = (found.source, found.target)
    return Corpus(found.name, folder / "data-bin", translate, train, (), tuple(words), languages)


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
    return Corpus(Path(name).name.removesuffix(".toml"), folder / "data-bin", ("--prepared", str(folder)))


def binarised(grid: Grid) -> Corpus:
    said = grid.data
    if said is None:
        raise UserError(f"{grid.name}.toml has no [data]")
    folder = grid.path(said.folder)
    translate = ["--data", str(folder), "--subwords", said.subwords]
    translate += ["--subwords-folder", str(grid.path(said.subwords_folder))] if said.subwords_folder else []
    translate += ["--hyphens", said.hyphens] if said.hyphens else []
    written = {grid.subsets[0]: said.reference, **(said.references or {})}
    references = tuple((subset, str(grid.path(file))) for subset, file in written.items())
    return Corpus(folder.name, folder, tuple(translate), (), references)
