"""The text of a comparison: a corpus that it prepares itself, a prepared one, or a data-bin alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from pkgutil import resolve_name

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.json_records import as_read
from realformer_nmt.common.requests.option import spec_of
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.requests.toml_tables import TableError, build_table
from realformer_nmt.common.stages.provenance import changed_settings
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.grid import DataBin, Grid
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.preparing import prepare_job, prepare_record
from realformer_nmt.corpora.preparing.prepare_request import TEXT, PrepareRequest
from realformer_nmt.corpora.sample import SampleRequest
from realformer_nmt.corpora.subwords.subword_methods import DEFAULT
from realformer_nmt.data_bins.file_checks import NAME as NOTE
from realformer_nmt.tasks import TASKS, TRANSLATION

IN_GRID = ("workers", "keep", "quiet")  # options of `prepare` for [prepare], beside those of the text
NO_OPTIONS = CorpusOptions()


@dataclass(frozen=True)
class CorpusChoice:
    """A text to train and to score on, with the options that each command needs for it."""

    name: str
    data: Path  # the data-bin
    text: CorpusOptions = NO_OPTIONS
    planned_name: str | None = None  # of a corpus that is shipped and not prepared yet, and its subwords: they choose
    planned_subwords: str | None = None  # the settings of its protocol
    references: Mapping[str, Path] = field(default_factory=dict)  # by subset, where `prepare` recorded none
    prepare: PrepareRequest | None = None
    languages: tuple[str, ...] | None = None  # source and target, if the manifest says them
    samples: Path = Path()  # the folder of the corpora with a share of its pairs
    task: str = TRANSLATION

    def pair(self) -> tuple[str, ...]:
        return self.languages or TASKS[self.task].languages(self.data)

    def check_subset(self, subset: str) -> None:
        """Raise an error where the data-bin lacks a subset."""
        resolve_name(TASKS[self.task].subset_check)(self, subset)

    def sample(self, share: float) -> "CorpusChoice":
        """Return the corpus with a share of its training pairs; 1 is all of them."""
        return self if share == 1 else replace(self, data=self.samples / f"data-{share:g}" / self.data.name)

    def preparations(self, shares: Sequence[float]) -> list[Request]:
        """Return the requests that make the corpus where it is missing, and its samples; a sample that exists with
        other pairs is refused."""
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

    def differences(self) -> list[str]:
        """Return the settings that have changed since the corpus was prepared here."""
        if self.prepare is None or not self.ready:
            return []
        try:
            before, now = prepare_record.read(self.data.parent / NOTE), prepare_job.job(self.prepare)
            return list(changed_settings(before.settings, as_read(now.settings())))
        except UserError as error:
            return [str(error)]

    def check_settings(self) -> None:
        """Refuse a corpus that was prepared here with other settings; `prepare` removes none, as it took long."""
        differences = "; ".join(self.differences())
        if differences:
            raise UserError(
                f"{self.data.parent} was prepared with other settings: {differences}. Remove it to prepare the corpus "
                "again, or name another --folder"
            )


def find(grid: Grid, request: CompareRequest) -> CorpusChoice:
    """Return the corpus that --prepared or the grid names."""
    prepared, archives, folder = request.prepared, request.archives, request.folder
    origins = [name for name in ("corpus", "prepared", "data") if getattr(grid, name)]
    if prepared and origins:
        raise UserError(f"--prepared {prepared}, but {grid.name}.toml says {origins[0]}: leave one of them out")
    if not prepared and not origins:
        raise UserError(f"{grid.name}.toml names no corpus, prepared or data: pass --prepared FOLDER")
    if archives and not grid.corpus:
        raise UserError("--archives is for a corpus that is prepared here: leave it out")
    if grid.data:
        return replace(binarised(grid, grid.data), task=grid.task)
    if grid.corpus:
        corpus = to_prepare(grid, grid.corpus, archives, folder / "data")
    else:
        corpus = prepared_corpus(prepared or grid.path(grid.prepared or ""))
    return replace(corpus, samples=folder, task=grid.task)


def to_prepare(grid: Grid, corpus: str, archives: Path | None, folder: Path) -> CorpusChoice:
    file_or_name = grid.file_or_name(corpus)
    content = manifest.load(file_or_name)
    prepare = preparation(grid, {"corpus": file_or_name, "folder": folder, "archives": archives})
    is_shipped = content.name in manifest.shipped()
    return CorpusChoice(
        content.name,
        folder / "data-bin",
        text=CorpusOptions(prepared=folder),
        planned_name=content.name if is_shipped else None,
        planned_subwords=prepare.subwords if is_shipped else None,
        prepare=prepare,
        languages=(content.source, content.target),
    )


def preparation(grid: Grid, elsewhere: Mapping[str, object]) -> PrepareRequest:
    """Return the preparation that [prepare] describes, beside what other keys and options say of it."""
    hidden = [each for each in fields(PrepareRequest) if spec_of(each).group != TEXT and each.name not in IN_GRID]
    unset = {each.name: each.default for each in hidden}
    table = {name.replace("-", "_"): value for name, value in (grid.prepare or {}).items()}
    try:
        prepare: PrepareRequest = build_table(
            PrepareRequest, {"subwords": DEFAULT, **table}, "prepare", {**unset, **elsewhere}
        )
    except TableError as error:
        raise UserError(f"{grid.name}.toml: {error}") from error
    return prepare


def prepared_corpus(folder: Path) -> CorpusChoice:
    note = folder / NOTE
    if not note.is_file():
        raise UserError(f"{note}: no such file; `realformer-nmt prepare --folder {folder}` writes it when it is done")
    name = prepare_record.read(note).corpus
    return CorpusChoice(Path(name).name.removesuffix(".toml"), folder / "data-bin", text=CorpusOptions(prepared=folder))


def binarised(grid: Grid, data: DataBin) -> CorpusChoice:
    folder = grid.path(data.folder)
    subwords_folder = grid.path(data.subwords_folder) if data.subwords_folder else None
    text = CorpusOptions(data=folder, subwords=data.subwords, subwords_folder=subwords_folder, hyphens=data.hyphens)
    files = {grid.subsets[0]: data.reference, **(data.references or {})}
    references = {subset: grid.path(file) for subset, file in files.items()}
    return CorpusChoice(folder.name, folder, text=text, references=references)
