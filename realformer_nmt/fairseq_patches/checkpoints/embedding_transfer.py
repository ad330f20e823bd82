"""--finetune-from-model with --carry-embeddings: finetuning a model on data of another vocabulary."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairseq.data import Dictionary
from fairseq.tasks.translation import TranslationTask
from fairseq.trainer import Trainer
from torch import Tensor

from realformer_nmt.checkpoints.files import integrity, reading
from realformer_nmt.checkpoints.files.embedding_rows import TABLES, CommonRows, carry, common
from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.data_bins.languages import check_languages
from realformer_nmt.fairseq_patches.checkpoints.checkpoint_files import begins_finetuning
from realformer_nmt.fairseq_patches.data import dictionary_checks
from realformer_nmt.fairseq_patches.patch import Original, patch

OPTION = "carry_embeddings"
logger = logging.getLogger(__name__)


@patch(Trainer, "load_checkpoint")
def carry_embeddings(original: Original, trainer: Trainer, filename: str, *args: Any, **kwargs: Any) -> Any:
    """Load embeddings by subword: fairseq loads only weights of the same shapes."""
    folder, model = source_data(trainer), trainer.model
    if folder is None or not begins_finetuning(trainer, Path(filename)):
        return original(trainer, filename, *args, **kwargs)
    rows = rows_of(Path(filename), folder, trainer.task)
    load = model.load_state_dict

    def load_state_dict(weights: Any, **options: Any) -> Any:
        return load(carry(weights, model.state_dict(), rows), **options)

    model.load_state_dict = load_state_dict  # of this model alone, until it is loaded
    try:
        loaded = original(trainer, filename, *args, **kwargs)
    finally:
        del model.load_state_dict
    logger.info("embeddings carried over from %s: %s", filename, describe_rows(rows))
    return loaded


def source_data(trainer: Any) -> Path | None:
    """Return the data-bin that --carry-embeddings names."""
    folder = getattr(trainer.cfg.model, OPTION, "")
    if not folder:
        return None
    check_beginning(trainer.cfg)
    if not isinstance(trainer.task, TranslationTask):
        raise UserError(f"--carry-embeddings {folder} is for --task translation alone: leave it out")
    return Path(folder)


def check_beginning(cfg: Any) -> None:
    if not cfg.checkpoint.finetune_from_model:
        folder = getattr(cfg.model, OPTION)
        raise UserError(f"--carry-embeddings {folder} needs --finetune-from-model FILE, whose embeddings they are")


def rows_of(checkpoint: Path, folder: Path, task: Any) -> dict[str, CommonRows]:
    """Return the rows to carry over, by side; `folder` has the dictionaries that the checkpoint was trained with."""
    loaded = reading.load(checkpoint, integrity.ENTRIES)
    dictionaries = dictionary_checks.words(task)
    state = loaded.get("task_state")
    languages = dictionary_checks.entry(state, "languages", list) or dictionary_checks.pair(task)
    if len(languages) != 2:
        raise UserError(f"{checkpoint} is of {len(languages)} languages; give one that was trained on a pair")
    check_languages(checkpoint, languages)
    files = [folder / f"dict.{language}.txt" for language in languages]
    previous = {side: dictionary(file) for side, file in zip(dictionaries, files, strict=True)}
    dictionary_checks.check_same(previous, folder, state)
    check_rows(checkpoint, dictionary_checks.entry(loaded, "model", dict), folder, previous)
    return {side: common(previous[side], words) for side, words in dictionaries.items()}


def check_rows(checkpoint: Path, weights: Mapping[str, Any], folder: Path, words: Mapping[str, Dictionary]) -> None:
    """Check the dictionaries' lengths by the tables of embeddings, as not every checkpoint records its dictionaries."""
    for name, side in TABLES.items():
        table = weights.get(name)
        if isinstance(table, Tensor) and table.dim() and len(table) != len(words[side]):
            raise UserError(
                f"{checkpoint} knows {len(table)} {side} subwords, and the dictionary of {folder} has "
                f"{len(words[side])}: give --carry-embeddings the data-bin that it was trained on"
            )


def describe_rows(rows: Mapping[str, CommonRows]) -> str:
    return ", ".join(f"{each} {side} subwords" for side, each in rows.items())
