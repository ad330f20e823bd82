"""Checks that a training resumes from a checkpoint of the same model, by its options where the weights also fit."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.trainer import Trainer

from realformer_nmt.checkpoints.files import integrity, reading
from realformer_nmt.checkpoints.files.checkpoint_fields import CHOICES, PATTERNS, options
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common import error_messages
from realformer_nmt.common.errors import OptionError, UserError, declared
from realformer_nmt.fairseq_patches.checkpoints.checkpoint_files import begins_finetuning, choose_checkpoint
from realformer_nmt.fairseq_patches.data import dictionary_checks
from realformer_nmt.fairseq_patches.patch import Original, patch
from realformer_nmt.model.part_names import with_heads
from realformer_nmt.model.weights import WeightsError

# Options that change the function of the same weights; sharing shows in their values, score length in their shapes
COMPARED = tuple(name for name in CHOICES if not name.startswith(("share_", "score_length")))
# Options of fairseq's own models that must be at their defaults; no parameter shows their values
UNSUPPORTED = ("cross_self_attention", "full_context_alignment", "adaptive_input", "encoder_layers_to_keep")


@patch(Trainer, "load_checkpoint")
def resume_from_a_complete_checkpoint(
    original: Original, trainer: Trainer, filename: str, *args: Any, **kwargs: Any
) -> Any:
    """Resume from the newest complete checkpoint, if it is of this model.

    fairseq takes checkpoint_last.pt or none, even an incomplete one, and without it trains from the start, over the
    checkpoints that are there. A kill without this plug-in, a full disk or an
    interrupted copy leaves such. fairseq loads any weights whose names and shapes fit, and of others it says no more
    than 'Cannot load'.
    """
    path = Path(choose_checkpoint(trainer, filename))
    if path.is_file():
        check_same_model(path, trainer)
    try:
        return original(trainer, str(path), *args, **kwargs)
    except Exception as error:
        cause = declared(error)
        if isinstance(cause, WeightsError):
            raise UserError(f"{path} {cause}") from error
        raise


@patch(checkpoint_utils, "load_model_ensemble_and_task")
def name_the_checkpoint_that_does_not_fit(
    original: Original, filenames: Sequence[object], *args: Any, **kwargs: Any
) -> Any:
    """Name the file whose weights or options do not fit.

    fairseq-generate, interactive and validate say no more than 'Cannot load'.
    """
    names = ", ".join(map(str, filenames))
    try:
        return original(filenames, *args, **kwargs)
    except WeightsError as error:
        raise UserError(f"{names} {error}") from error
    except (dictionary_checks.OtherCorpusError, OptionError) as error:
        raise UserError(f"{names}: {error}") from error
    except Exception as error:
        if error_messages.is_of_memory(error):
            raise UserError(f"{names} {error_messages.TOO_LARGE}") from error
        if error_messages.foreseen_message(error) is None:
            raise UserError(
                f"{names}: no model can be built from it: {error_messages.fallback_message(error)}"
            ) from error
        raise


def check_same_model(path: Path, trainer: Any) -> None:
    """Check a checkpoint's options, without its weights, against those of the model that is trained."""
    model = trainer.cfg.model
    if isinstance(model, Namespace):  # of a model without a dataclass, such as the multilingual one
        model = vars(model)
    model = with_heads(model)
    try:
        state = reading.load(path, integrity.ENTRIES)
    except UserError:
        return  # fairseq reads it next, and reports what is wrong
    check_same_task(path, trainer, state)
    if "residual_topology" not in model:
        return  # a model of another package
    saved = options(state)
    finetuning = begins_finetuning(trainer, path)
    ignored = PATTERNS if finetuning else ()  # ETC is finetuned from RoBERTa, which has another pattern
    for name in COMPARED:
        if name not in ignored and name in saved and name in model and saved[name] != model[name]:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(
                f"{path} is of another model: {flag} was {saved[name]} there and is {model[name]} here; "
                "train with the architecture of the checkpoint, or give one of this architecture"
            )
    for name in UNSUPPORTED:
        if saved.get(name):
            raise UserError(
                f"{path} was trained with --{name.replace('_', '-')} {saved[name]}, which no model of this package "
                "supports; give a checkpoint without it"
            )


def check_same_task(path: Path, trainer: Any, state: Checkpoint) -> None:
    """Check the dictionaries, unless --carry-embeddings carries from other ones, and the languages."""
    if not isinstance(trainer.task, dictionary_checks.CHECKED):
        return
    finetuning = begins_finetuning(trainer, path)
    other_words = finetuning and bool(getattr(trainer.cfg.model, "carry_embeddings", ""))
    try:
        dictionary_checks.check_corpus(trainer.task, state.get("task_state"), finetuning, other_words)
    except dictionary_checks.OtherCorpusError as error:
        raise UserError(f"{path}: {error}") from error
