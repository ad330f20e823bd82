"""One training at a time in a --save-dir, also of fairseq-train without `realformer-nmt train`.

Two would write checkpoints over each other's, and each would go on from the other's. The lock ends with its holder.
"""

import functools
import gc
import logging
import os
import weakref
from pathlib import Path
from typing import IO, Any

from fairseq import checkpoint_utils
from fairseq.file_io import PathManager
from fairseq.trainer import Trainer

from realformer_nmt.common.folder_lock import HeldError, take

LOCK = ".training-lock"
logger = logging.getLogger(__name__)


def hold_the_folder() -> None:
    """Rank 0 holds it, as it is the one that writes: from before it looks for a checkpoint to go on from."""
    original = checkpoint_utils.load_checkpoint

    @functools.wraps(original)
    def load_checkpoint(cfg: Any, trainer: Trainer, **passed: Any) -> Any:
        local = not PathManager.path_requires_pathmanager(cfg.save_dir)
        if trainer.is_data_parallel_master and local and not cfg.no_save:
            trainer.lock = lock(Path(cfg.save_dir))  # as long as the training
        return original(cfg, trainer, **passed)

    checkpoint_utils.load_checkpoint = load_checkpoint


def lock(folder: Path) -> IO[str] | None:
    try:
        held = retaken(folder / LOCK)
    except OSError as error:
        logger.warning("%s cannot be locked (%s): see that no other training writes there", folder, error.strerror)
        return None
    known = weakref.ref(held)
    os.register_at_fork(after_in_child=lambda: close(known()))  # loaders of data outlive a kill for seconds
    return held


def retaken(file: Path) -> IO[str]:
    """An earlier training of this very process may be over, though its trainer is still to be collected."""
    try:
        return take(file, "trains in")
    except HeldError:
        gc.collect()
    return take(file, "trains in")


def close(held: IO[str] | None) -> None:
    if held is not None:
        held.close()
