"""The preparation of a corpus, as far as translating and scoring depend on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TypeVar

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.preparing import prepare_record
from realformer_nmt.corpora.preparing.clean_splits import cleaning_steps
from realformer_nmt.corpora.preparing.cleaning import Steps, cleaned
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.corpora.subwords.subwords import Lines, Surface, encoder, renew, tagged_sources, untagged
from realformer_nmt.data_bins import subsets
from realformer_nmt.data_bins.languages import MANY, Pair, Requested, pair_of_many
from realformer_nmt.data_bins.prepared_folder import PreparedFolder

SomeOptions = TypeVar("SomeOptions", bound=CorpusOptions)


@dataclass(frozen=True)
class TextPipeline:
    data: Path  # the data-bin
    source: str
    target: str
    subwords: str  # one of METHODS
    folder: Path | None  # of the subword model
    steps: Steps  # of cleaning raw source text, before it is split into subwords
    corpus: str | None = None
    prepared: Path | None = None  # the folder of `realformer-nmt prepare`
    published: str | None = None  # the name of its test set in the table of published figures
    texts: Mapping[str, list[str]] = field(default_factory=dict)  # names of the source files of each split

    def __post_init__(self) -> None:
        if self.folder is not None:
            renew(METHODS[self.subwords], self.folder)

    @property
    def languages(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def dictionaries(self) -> list[Path]:
        """The files of the source's and the target's dictionary."""
        return [self.data / f"dict.{language}.txt" for language in self.languages]

    @property
    def tags(self) -> tuple[str, str]:
        """The tags of both languages; empty if the model was trained without them."""
        tag = METHODS[self.subwords].tag
        return tag.format(self.source), tag.format(self.target)

    def pieces(self, raw: bytes) -> list[str]:
        """Clean raw source text, whose lines end with line feeds, and return its lines as subwords, tagged."""
        lines = cleaned(raw, self.steps)
        if self.folder is None and METHODS[self.subwords].files:
            raise UserError(f"{self.subwords} needs the folder of its model: pass --subwords-folder")
        return tagged_sources(encoder(METHODS[self.subwords], self.folder or Path())(lines), self.tags[0])

    def import_detokeniser(self) -> None:
        """Import what `surface` needs, so that a library that is missing is named before a long work."""
        resolve_name(METHODS[self.subwords].detokenise)

    def surface(self, pieces: list[str]) -> Surface:
        detokenise: Callable[[Lines, Path | None, str], Surface] = resolve_name(METHODS[self.subwords].detokenise)
        return detokenise(untagged(pieces, self.tags[1]), self.folder, self.target)

    def settings(self) -> dict[str, object]:
        """Return what decides a translation, besides the files."""
        names = ("corpus", "published", "languages", "subwords")
        settings = {name: getattr(self, name) for name in names}
        return {**settings, "hyphens": self.steps.tokenise, "steps": str(self.steps)}


def with_corpus(options: SomeOptions, checkpoint: Path) -> SomeOptions:
    """Return the options with the prepared folder that a model was trained on, unless they name a corpus."""
    if options.says_corpus():
        return options
    folder = model_in_run.trained_on(checkpoint).parent
    if not PreparedFolder(folder).record.is_file():
        raise UserError(
            f"{checkpoint} was trained on a data-bin that `prepare` has not made: pass --data DATA-BIN and --subwords, "
            "in Python data= and subwords="
        )
    return replace(options, prepared=folder)


def requested(options: CorpusOptions) -> TextPipeline:
    """Return the preparation of a prepared folder or of the other options; raise if both are passed."""
    if options.prepared is None:
        if options.data is None or options.subwords is None:
            raise UserError(f"pass --data DATA-BIN and --subwords, one of {', '.join(METHODS)}; or --prepared FOLDER")
        return of_data_bin(options, options.data, options.subwords)
    for name in ("data", "subwords", "subwords_folder", "hyphens"):
        if getattr(options, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{options.prepared}/prepare.json says the same as {flag}: pass one of the two")
    return read(options.prepared, (options.source_language, options.target_language))


def of_data_bin(options: CorpusOptions, data: Path, subwords: str) -> TextPipeline:
    """Return the preparation of a data-bin that `realformer-nmt prepare` did not make."""
    source, target = pair(data, subsets.languages(data), (options.source_language, options.target_language))
    tokenised = METHODS[subwords].tokenised
    hyphens = options.hyphens
    if tokenised and hyphens is None:
        raise UserError(f"--subwords {subwords} is tokenised text: say how, with --hyphens aggressive or plain")
    if not tokenised and hyphens is not None:
        raise UserError(f"--subwords {subwords} is not tokenised by Moses: leave --hyphens out")
    return TextPipeline(data, source, target, subwords, options.subwords_folder, Steps(source, tokenise=hyphens))


def read(folder: Path, requested: Requested = (None, None)) -> TextPipeline:
    """Read a prepared folder; raw text is cleaned as the training text was, since the model has seen no other.

    The papers did not normalise the punctuation of their test sets, so such a set is to be read from the data-bin."""
    prepared = PreparedFolder(folder)
    record = prepare_record.read(prepared.record)
    source, target = pair(prepared.data, (record.source, record.target), requested)
    return TextPipeline(
        data=prepared.data,
        source=source,
        target=target,
        subwords=record.subwords,
        folder=prepared.subwords,
        steps=cleaning_steps(source, record.protocol(), METHODS[record.subwords].tokenised),
        corpus=record.corpus,
        published=record.published,
        prepared=folder,
        texts=record.texts(),
    )


def pair(data: Path, prepared: Pair, requested: Requested) -> Pair:
    """Return the languages that data were prepared for, or the requested ones if the model knows many."""
    if prepared == (MANY, MANY):  # a model of one pair may have the name on one side
        return pair_of_many(data, requested)
    if any(requested):
        raise UserError(f"{data} is from {' to '.join(prepared)}: leave out --source-language and --target-language")
    return prepared
