"""--finetune-from-model with --carry-embeddings: a model trained on in another vocabulary."""

import functools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairseq.data import Dictionary
from fairseq.tasks.translation import TranslationTask
from fairseq.trainer import Trainer
from torch import Tensor

from realformer_nmt.checkpoints import integrity, reading
from realformer_nmt.checkpoints.carried_rows import TABLES, Rows, carry, common
from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.data_bins.languages import demand_language
from realformer_nmt.fairseq_patches import trained_corpus

OPTION = "carry_embeddings"
logger = logging.getLogger(__name__)


def carry_embeddings() -> None:
    """fairseq loads weights of the same shapes alone: here a row of an embedding follows its piece."""
    original = Trainer.load_checkpoint

    @functools.wraps(original)
    def load_checkpoint(self: Any, filename: str, *args: Any, **kwargs: Any) -> Any:
        folder = asked(self)
        if folder is None or filename != self.cfg.checkpoint.finetune_from_model:
            return original(self, filename, *args, **kwargs)
        rows = rows_of(Path(filename), folder, self.task)
        load = self.model.load_state_dict

        def load_state_dict(weights: Any, **options: Any) -> Any:
            return load(carry(weights, self.model.state_dict(), rows), **options)

        self.model.load_state_dict = load_state_dict  # of this one model, while it is loaded
        try:
            loaded = original(self, filename, *args, **kwargs)
        finally:
            del self.model.load_state_dict
        logger.info("embeddings carried over from %s: %s", filename, told(rows))
        return loaded

    Trainer.load_checkpoint = load_checkpoint


def asked(trainer: Any) -> Path | None:
    folder = getattr(trainer.cfg.model, OPTION, "")
    if not folder:
        return None
    demand_beginning(trainer.cfg)
    if not isinstance(trainer.task, TranslationTask):
        raise UserError(f"--carry-embeddings {folder} is for --task translation alone: leave it out")
    if trainer.cfg.ema.store_ema:
        raise UserError(f"--carry-embeddings {folder} and --store-ema exclude each other: leave one of them out")
    return Path(folder)


def demand_beginning(cfg: Any) -> None:
    if not cfg.checkpoint.finetune_from_model:
        told = f"--carry-embeddings {getattr(cfg.model, OPTION)} needs --finetune-from-model FILE"
        raise UserError(f"{told}, whose embeddings they are")


def rows_of(checkpoint: Path, folder: Path, task: Any) -> dict[str, Rows]:
    """By side. `folder` holds the dictionaries that the checkpoint was trained with."""
    loaded, now = reading.load(checkpoint, integrity.ENTRIES), trained_corpus.words(task)
    state = loaded.get("task_state")
    languages = trained_corpus.entry(state, "languages", list) or [task.cfg.source_lang, task.cfg.target_lang]
    demand_languages(checkpoint, languages)
    files = [folder / f"dict.{language}.txt" for language in languages]
    before = {side: dictionary(file) for side, file in zip(now, files, strict=True)}
    trained_corpus.demand_same(before, folder, state)
    demand_rows(checkpoint, trained_corpus.entry(loaded, "model", dict), folder, before)
    return {side: common(before[side], words) for side, words in now.items()}


def demand_rows(checkpoint: Path, weights: Mapping[str, Any], folder: Path, words: Mapping[str, Dictionary]) -> None:
    """Not every checkpoint tells its dictionaries; how long they were its tables do."""
    for name, side in TABLES.items():
        table = weights.get(name)
        if isinstance(table, Tensor) and table.dim() and len(table) != len(words[side]):
            raise UserError(
                f"{checkpoint} knows {len(table)} {side} pieces, and the dictionary of {folder} has "
                f"{len(words[side])}: give --carry-embeddings the data-bin that it was trained on"
            )


def demand_languages(checkpoint: Path, languages: Sequence[object]) -> None:
    """They become names of files."""
    if len(languages) != 2:
        raise UserError(f"{checkpoint} is of {len(languages)} languages; give one that was trained on a pair")
    for language in languages:
        try:
            demand_language(language)
        except ValueError as error:
            raise UserError(f"{checkpoint}: {error}") from error


def told(rows: Mapping[str, Rows]) -> str:
    return ", ".join(f"{found} {side} pieces" for side, found in rows.items())
