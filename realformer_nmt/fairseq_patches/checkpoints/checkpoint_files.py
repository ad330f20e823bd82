"""How checkpoints are written, and which one a training resumes from: a power cut loses no more than the updates since
the last one."""

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils
from fairseq.file_io import PathManager
from fairseq.trainer import Trainer
from omegaconf import OmegaConf

from realformer_nmt.checkpoints.files import integrity, reading
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.fairseq_patches.patch import Original, patch

LAST = "checkpoint_last.pt"  # from which fairseq resumes, unless --restore-file names another
logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")


@patch(checkpoint_utils, "torch_persistent_save")
def save_atomically(original: Original, state: object, filename: str, async_write: bool = False) -> None:
    """Write each checkpoint atomically.

    fairseq renames a file that may not be on the disk yet. It leaves NAME.tmp on a full disk, and tries three times,
    into the same stream: if space becomes free meanwhile, it renames a file that begins with the incomplete first try
    (checkpoint_utils.py).
    """
    if async_write or not PathManager.supports_rename(filename):
        original(state, filename, async_write)
    else:
        with completed(Path(filename)) as stream:
            torch.save(state, stream)


@patch(PathManager, "copy")
def copy_atomically(original: Original, src_path: str, dst_path: str, overwrite: bool = False) -> Any:
    """Copy checkpoints atomically.

    fairseq overwrites checkpoint_last.pt and checkpoint_best.pt byte by byte (file_io.py): a kill meanwhile leaves them
    incomplete.
    """
    if not (PathManager.supports_rename(src_path) and PathManager.supports_rename(dst_path)):
        return original(src_path, dst_path, overwrite)
    source = Path(src_path)
    with source.open("rb") as stream, completed(Path(dst_path), source.stat().st_size) as out:
        shutil.copyfileobj(stream, out)
    return dst_path


@patch(checkpoint_utils, "save_checkpoint")
def refuse_a_missing_save_dir(original: Original, cfg: Any, trainer: Trainer, *args: Any, **kwargs: Any) -> Any:
    """Refuse to save where --save-dir has disappeared.

    fairseq creates it again, for example below the mount point of a lost disk.
    """
    if trainer.is_data_parallel_master and not cfg.no_save and not Path(cfg.save_dir).is_dir():
        raise UserError(
            f"--save-dir {cfg.save_dir} has disappeared since the training began: bring it back; the same command "
            "then resumes from what it holds"
        )
    return original(cfg, trainer, *args, **kwargs)


def choose_checkpoint(trainer: Trainer, filename: str) -> str:
    """Return the checkpoint to resume from, on all ranks the one that rank 0 finds, as it is rank 0 that loads it."""
    cfg, path = trainer.cfg.checkpoint, Path(filename)
    replaceable = cfg.restore_file == LAST and path.parent == Path(cfg.save_dir)
    return answer_of_rank_0(trainer, lambda: str(instead_of(path, replaceable)))


def answer_of_rank_0(trainer: Trainer, ask: Callable[[], Answer]) -> Answer:
    """Return on all ranks what rank 0 answers.

    With a suffix each rank has a part of the checkpoint and answers alone.
    """
    if trainer.data_parallel_world_size == 1 or trainer.checkpoint_suffix:
        return ask()
    answer = ask() if trainer.data_parallel_rank == 0 else None
    group = trainer.data_parallel_process_group
    agreed: Answer = distributed_utils.broadcast_object(answer, src_rank=0, group=group, dist_device=trainer.device)
    return agreed


def begins_finetuning(trainer: Any, path: Path) -> bool:
    """Return whether a checkpoint is the one of --finetune-from-model, however its path is typed, such as ./x.pt."""
    model = trainer.cfg.checkpoint.finetune_from_model
    return model is not None and path == Path(model)


def instead_of(path: Path, replaceable: bool) -> Path:
    """Return a checkpoint, or the newest complete one of its folder if it is `replaceable` and damaged or missing."""
    absent = not os.path.lexists(path)
    if PathManager.path_requires_pathmanager(str(path)) or (replaceable and absent and path.name != LAST):
        return path  # of a remote file system, or a rank's part that is not yet there
    if path.name != LAST or not replaceable:
        check_complete(path)
        return path
    if path.is_file() and not integrity.is_cut(path):
        return path
    checkpoints = sorted(path.parent.glob("checkpoint*.pt"))
    newest = integrity.newest(checkpoints)
    if absent and newest is None:
        return path  # the start of a training
    if newest is None:
        listed = "; ".join(integrity.describe(file) for file in checkpoints)
        raise UserError(
            f"{path} was cut off or damaged, and no complete checkpoint is beside it: {listed}. Restore one, or remove "
            "them to train from the start"
        )
    problem, description = "is missing" if absent else "was cut off or damaged", integrity.describe(newest)
    logger.warning("%s %s: resuming from %s, the newest complete checkpoint", path, problem, description)
    return newest


def check_complete(path: Path) -> None:
    """Check a checkpoint that an option names; fairseq silently trains from the start without one (trainer.py)."""
    reading.regular(path)
    damage = reading.damage(path)
    if damage is not None:
        raise UserError(f"{path} was cut off or damaged: {damage}. Give a complete checkpoint")


@patch(checkpoint_utils, "load_checkpoint")
def continue_a_finetuning(original: Original, cfg: Any, trainer: Trainer, **options: Any) -> Any:
    """Continue a finetuning without checkpoint_last.pt from its newest complete checkpoint.

    fairseq begins again with --finetune-from-model, over the checkpoints that are there.
    """
    model = cfg.finetune_from_model
    resumable = model and cfg.restore_file == LAST and not trainer.checkpoint_suffix
    if resumable and answer_of_rank_0(trainer, lambda: has_lost_its_last(Path(cfg.save_dir), Path(model))):
        cfg = OmegaConf.merge(cfg, {"finetune_from_model": None})
    return original(cfg, trainer, **options)


def has_lost_its_last(folder: Path, model: Path) -> bool:
    """Return whether a training that began with a model has checkpoints, but no checkpoint_last.pt.

    If the model lies among the checkpoints, they may be of the training before: this one begins.
    """
    if os.path.lexists(folder / LAST) or model.resolve().parent == folder.resolve():
        return False
    return integrity.newest(folder.glob("checkpoint*.pt")) is not None
