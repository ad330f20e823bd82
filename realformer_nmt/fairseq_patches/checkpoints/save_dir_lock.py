"""One training at a time in a --save-dir, also of fairseq-train without `realformer-nmt train`.

Two trainings would overwrite each other's checkpoints. The lock ends with its process.
"""

import logging
from pathlib import Path
from typing import IO, Any

from fairseq import checkpoint_utils
from fairseq.file_io import PathManager
from fairseq.trainer import Trainer

from realformer_nmt.common.files.folder_lock import NoLocksError, locked
from realformer_nmt.fairseq_patches.patch import Original, patch

LOCK = ".training-lock"
logger = logging.getLogger(__name__)


@patch(checkpoint_utils, "load_checkpoint")
def lock_save_dir(original: Original, cfg: Any, trainer: Trainer, **options: Any) -> Any:
    """Lock --save-dir on rank 0 before it looks for a checkpoint."""
    local = not PathManager.path_requires_pathmanager(cfg.save_dir)
    if trainer.is_data_parallel_master and local and not cfg.no_save:
        trainer.lock = lock(Path(cfg.save_dir))  # the lock lives as long as the trainer
    return original(cfg, trainer, **options)


def lock(folder: Path) -> IO[str] | None:
    """Lock a folder; warn, and return None, where its file system has no locks."""
    try:
        return locked(folder / LOCK, "trains in")
    except NoLocksError as error:
        logger.warning("%s, or see that no other training writes there", error)
        return None
