"""What a training may go on from: a checkpoint of the same model, by its options where its weights look alike."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.models import FairseqEncoderDecoderModel, FairseqEncoderModel, FairseqLanguageModel
from fairseq.tasks.language_modeling import LanguageModelingTask
from fairseq.tasks.masked_lm import MaskedLMTask
from fairseq.tasks.sentence_prediction import SentencePredictionTask
from fairseq.tasks.span_masked_lm import SpanMaskedLMTask
from fairseq.tasks.translation import TranslationTask
from fairseq.trainer import Trainer

from realformer_nmt.checkpoints import integrity, reading
from realformer_nmt.checkpoints.layout import BEFORE, CHOICES, PATTERNS, options
from realformer_nmt.common import foreign_errors
from realformer_nmt.common.errors import OptionError, UserError, declared
from realformer_nmt.fairseq_patches import trained_corpus
from realformer_nmt.fairseq_patches.checkpoint_files import choose_checkpoint
from realformer_nmt.model.weights import WeightsError

# Whose other value is another function of the same weights; sharing, and a score length that counts, show in these
COMPARED = tuple(name for name in CHOICES if not name.startswith(("share_", "score_length")))
UNFIT = {  # models for each task; those of a plug-in may be of other kinds
    TranslationTask: (FairseqLanguageModel, FairseqEncoderModel),
    LanguageModelingTask: (FairseqEncoderDecoderModel, FairseqEncoderModel),
    MaskedLMTask: (FairseqEncoderDecoderModel, FairseqLanguageModel),
    SentencePredictionTask: (FairseqLanguageModel,),
    SpanMaskedLMTask: (FairseqLanguageModel, FairseqEncoderModel),
}
# Of fairseq's own models, at their defaults; no parameter tells of them
UNSUPPORTED = ("cross_self_attention", "full_context_alignment", "adaptive_input", "encoder_layers_to_keep")


def go_on_from_a_whole_checkpoint_of_this_model() -> None:
    """fairseq goes on from checkpoint_last.pt or not at all. One that was cut off, by a kill of fairseq without this
    plug-in, a full disk or a copy that was broken off, is passed over for the newest whole one of its folder. Then it
    loads any weights whose names and shapes fit, and says no more than 'Cannot load' of others."""
    original = Trainer.load_checkpoint

    @functools.wraps(original)
    def load_checkpoint(self: Any, filename: str, *args: Any, **kwargs: Any) -> Any:
        path = Path(choose_checkpoint(self, filename))
        if path.is_file():
            demand_same_model(path, self)
        try:
            return original(self, str(path), *args, **kwargs)
        except Exception as error:
            ours = declared(error)
            if isinstance(ours, WeightsError):
                raise UserError(f"{path} {ours}") from error
            raise

    Trainer.load_checkpoint = load_checkpoint


def name_the_checkpoint_that_does_not_fit() -> None:
    """fairseq-generate, interactive and validate say that something does not fit, and not whose."""
    original = checkpoint_utils.load_model_ensemble_and_task

    @functools.wraps(original)
    def load_model_ensemble_and_task(filenames: Any, *args: Any, **kwargs: Any) -> Any:
        names = ", ".join(map(str, filenames))
        try:
            found = original(filenames, *args, **kwargs)
        except Exception as error:
            if isinstance(error, WeightsError):
                raise UserError(f"{names} {error}") from error
            if isinstance(error, trained_corpus.OtherCorpusError | OptionError):
                raise UserError(f"{names}: {error}") from error
            if foreign_errors.is_of_memory(error):
                raise UserError(f"{names} {foreign_errors.TOO_LARGE}") from error
            if foreign_errors.known(error) is None:
                raise UserError(f"{names} became no model: {foreign_errors.unknown(error)}") from error
            raise
        demand_kinds(filenames, *found)
        return found

    checkpoint_utils.load_model_ensemble_and_task = load_model_ensemble_and_task


def demand_kinds(filenames: Sequence[Any], models: Sequence[Any], _: Any, task: Any) -> None:
    """fairseq-generate lets a language model of the same words write on, alone or in an ensemble, and
    fairseq-eval-lm breaks off within a model that translates."""
    unfit = next((kinds for of, kinds in UNFIT.items() if isinstance(task, of)), ())
    for name, model in zip(filenames, models, strict=False):  # parts of one model have names of their own
        if isinstance(model, unfit):
            told = f"{name} holds a {type(model).__name__}, which is no model for the {type(task).__name__}"
            raise UserError(f"{told}: give one that was trained for this task, or --task as it was trained")


def demand_same_model(path: Path, trainer: Any) -> None:
    """Only the options are read: the weights stay in the file."""
    ours = trainer.cfg.model
    try:
        state = reading.load(path, integrity.ENTRIES)
    except UserError:
        return  # fairseq's own reading says what is wrong
    demand_same_task(path, trainer, state)
    if "residual_topology" not in ours:
        return  # a model that is not ours
    theirs = {**BEFORE, **options(state)}
    finetuning = str(path) == trainer.cfg.checkpoint.finetune_from_model
    lifted = PATTERNS if finetuning else ()  # as ETC lifts RoBERTa's weights
    for name in COMPARED:
        if name not in lifted and name in theirs and name in ours and theirs[name] != ours[name]:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(
                f"{path} is of another model: {flag} was {theirs[name]} there and is {ours[name]} here; "
                "train with the architecture of the checkpoint, or give one of this architecture"
            )
    for name in UNSUPPORTED:
        if theirs.get(name):
            raise UserError(
                f"{path} was trained with --{name.replace('_', '-')} {theirs[name]}, which no model of this package "
                "supports; give a checkpoint without it"
            )


def demand_same_task(path: Path, trainer: Any, state: dict[str, Any]) -> None:
    """A model is finetuned on another pair of languages, but not on its own the other way round."""
    if not isinstance(trainer.task, trained_corpus.TASKS):
        return
    finetuning = str(path) == trainer.cfg.checkpoint.finetune_from_model
    try:
        if not (finetuning and getattr(trainer.cfg.model, "carry_embeddings", "")):
            words = trained_corpus.words(trainer.task)
            data = trained_corpus.settings(trainer.task).data
            trained_corpus.demand_same(words, data, state.get("task_state"))
            trained_corpus.demand_same_subwords(trainer.task, state.get("task_state"))
        if isinstance(trainer.task, TranslationTask):
            trained_corpus.demand_same_languages(trainer.task, state.get("task_state"), only_not_reversed=finetuning)
    except trained_corpus.OtherCorpusError as error:
        raise UserError(f"{path}: {error}") from error
