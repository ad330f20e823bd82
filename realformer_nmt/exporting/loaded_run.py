"""Source of an export: a model with its dictionaries and subwords."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from realformer_nmt.analysis import loaded_model
from realformer_nmt.checkpoints import inspection, model_in_run, origins
from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.checkpoints.run_files import CHECKPOINTS
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import Origin
from realformer_nmt.common.stages.provenance import made_from
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.subwords.subword_methods import DICTIONARY, METHODS
from realformer_nmt.corpora.subwords.subwords import encoder
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.evaluation.translating.translation_checks import check_same_languages, check_translates
from realformer_nmt.model.attention.attention_pattern import PATTERNS
from realformer_nmt.model.models.model import TranslationModel

RECORD, IMPORTED = "export.json", "import.json"


class ConversionRecord(Struct, frozen=True, kw_only=True):
    """Record of an export or an import."""

    made_from: Origin


class LoadedRun(NamedTuple):
    path: Path  # of the checkpoint
    model: TranslationModel  # in evaluation mode
    options: Options  # of the model
    updates: int
    corpus: TextPipeline
    origin: Origin = Origin(settings={}, inputs={}, versions={})  # the files, as they were before they were read
    members: Sequence[SourceCheckpoint] = ()  # what the checkpoint was averaged or exported from

    @property
    def tokenizer_models(self) -> list[Path]:
        """Files for source and target that transformers' MarianTokenizer reads, if the subword method has them."""
        files = {file.name: file for file in subwords(self.corpus)}
        return [files[name] for name in METHODS[self.corpus.subwords].marian_models if name in files]

    @property
    def folder(self) -> Path:
        """The run's folder: checkpoints lie in checkpoints/, and averages beside it."""
        folder = self.path.absolute().parent
        return folder.parent if folder.name == CHECKPOINTS else folder

    @property
    def imported(self) -> Mapping[str, object]:
        """The model that `import` made the run from, and its licence; nothing for a model that was trained here."""
        file = self.folder / IMPORTED
        if not file.is_file():
            return {}
        return records.read(file, ConversionRecord, "`realformer-nmt import` writes it").made_from.settings

    def copy_words(self, folder: Path) -> None:
        for file in (*self.corpus.dictionaries, *subwords(self.corpus)):
            shutil.copyfile(file, folder / file.name)

    def record(self, settings: Mapping[str, str], folder: Path) -> None:
        records.write(folder / RECORD, ConversionRecord(made_from=replace(self.origin, settings=dict(settings))))


def load(model: Path, options: CorpusOptions) -> LoadedRun:
    path = model_in_run.checkpoint(model)
    state = checkpoint_fields.without_weights(path)
    check_translates(path, state)
    corpus = text_pipeline.requested(text_pipeline.with_corpus(options, path))
    check_same_languages(path, state, corpus)
    inputs = {file.name: file for file in (path, *corpus.dictionaries, *subwords(corpus))}
    origin = made_from({}, inputs)
    check_subwords(corpus)
    loaded = loaded_model.load(path.name, path, inspection.build)
    check_plain_attention(path, loaded.options)
    members = origins.sources(path, state)
    source = LoadedRun(path, loaded.model, loaded.options, loaded.updates or 0, corpus, origin, members)
    loaded_model.check_dictionaries(loaded, corpus.data, *map(dictionary, corpus.dictionaries))
    return source


def check_plain_attention(path: Path, options: Options) -> None:
    pattern = str(options.get("encoder_attention_pattern", "full"))
    if not PATTERNS[pattern].whole:
        raise UserError(f"{path} has --encoder-attention-pattern {pattern}: only models of full attention are exported")
    if reach := options.get("encoder_relative_positions", 0):
        raise UserError(f"{path} has --encoder-relative-positions {reach}: only models without them are exported")


def subwords(corpus: TextPipeline) -> list[Path]:
    """Return the subword files: a folder that `prepare` has not written may lack the dictionary, which is in data."""
    if corpus.folder is None:
        return []
    files = [corpus.folder / name for name in METHODS[corpus.subwords].files]
    return [file for file in files if corpus.prepared or file.name != DICTIONARY or file.exists()]


def check_subwords(corpus: TextPipeline) -> None:
    """Raise an error if the subword files are not of the method, or not as they were prepared."""
    if corpus.folder is not None:
        encoder(METHODS[corpus.subwords], corpus.folder)
        for file in subwords(corpus):
            if file.name == DICTIONARY:
                dictionary(file)
