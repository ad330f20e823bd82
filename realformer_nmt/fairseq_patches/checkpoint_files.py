"""How checkpoints are written, and which one a training goes on from: whoever pulls the plug loses no more than
what was trained since the last one."""

import functools
import logging
import os
import shutil
import typing
from pathlib import Path

import torch
from fairseq import checkpoint_utils
from fairseq.distributed import utils as distributed_utils
from fairseq.file_io import PathManager
from fairseq.trainer import Trainer

from realformer_nmt.checkpoints import integrity, reading
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.errors import UserError

LAST = "checkpoint_last.pt"  # where fairseq goes on from unless --restore-file says otherwise
logger = logging.getLogger(__name__)


def save_at_one_blow() -> None:
    """torch_persistent_save renames a file that may not have reached the disk, and leaves NAME.tmp where the disk is
    full. Before it fails it tries twice more, into the same stream: if room came meanwhile, what follows the torn first
    try is renamed (checkpoint_utils.py)."""
    original = checkpoint_utils.torch_persistent_save

    @functools.wraps(original)
    def torch_persistent_save(state: typing.Any, filename: str, async_write: bool = False) -> None:
        if async_write or not PathManager.supports_rename(filename):
            return original(state, filename, async_write)
        with completed(Path(filename)) as stream:
            torch.save(state, stream)
        return None

    checkpoint_utils.torch_persistent_save = torch_persistent_save


def copy_at_one_blow() -> None:
    """checkpoint_last.pt and checkpoint_best.pt are copied over the ones of before, byte by byte (file_io.py): a run
    killed meanwhile has no checkpoint under the name that it would go on from."""
    original = PathManager.copy

    @functools.wraps(original)
    def copy(src_path: str, dst_path: str, overwrite: bool = False) -> typing.Any:
        if not (PathManager.supports_rename(src_path) and PathManager.supports_rename(dst_path)):
            return original(src_path, dst_path, overwrite)
        source = Path(src_path)
        with source.open("rb") as stream, completed(Path(dst_path), source.stat().st_size) as out:
            shutil.copyfileobj(stream, out)
        return dst_path

    PathManager.copy = staticmethod(copy)


def miss_a_folder_that_is_gone() -> None:
    """save_checkpoint makes --save-dir anew where it has vanished: below the mount point of a disk that is gone, say.
    The training began by making it, so that it must be there."""
    original = checkpoint_utils.save_checkpoint

    @functools.wraps(original)
    def save_checkpoint(cfg: typing.Any, trainer: Trainer, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if trainer.is_data_parallel_master and not cfg.no_save and not Path(cfg.save_dir).is_dir():
            raise UserError(
                f"--save-dir {cfg.save_dir} has vanished since the training began: bring it back; the same command "
                "then goes on from what it holds"
            )
        return original(cfg, trainer, *args, **kwargs)

    checkpoint_utils.save_checkpoint = save_checkpoint


def choose_checkpoint(trainer: Trainer, filename: str) -> str:
    """Rank 0 looks, as it is the one to load; all ranks then speak of the same file. Parts of a checkpoint, with a
    suffix, are each rank's own; TPUs cannot be told."""
    answer: str | None = None
    alone = trainer.data_parallel_world_size == 1 or bool(trainer.checkpoint_suffix) or trainer.tpu
    if trainer.data_parallel_rank == 0 or alone:
        cfg, path = trainer.cfg.checkpoint, Path(filename)
        answer = str(instead_of(path, cfg.restore_file == LAST and path.parent == Path(cfg.save_dir)))
    if not alone:
        group = trainer.data_parallel_process_group
        answer = distributed_utils.broadcast_object(answer, src_rank=0, group=group, dist_device=trainer.device)
    return answer or filename


def instead_of(path: Path, others_will_do: bool) -> Path:
    if PathManager.path_requires_pathmanager(str(path)) or (others_will_do and not os.path.lexists(path)):
        return path  # from elsewhere, or the start of a training
    if path.name != LAST or not others_will_do:
        whole(path)
        return path
    if path.is_file() and not integrity.is_cut(path):
        return path
    found = sorted(path.parent.glob("checkpoint*.pt"))
    newest = integrity.newest(found)
    if newest is None:
        listed = "; ".join(integrity.describe(file) for file in found)
        raise UserError(
            f"{path} was cut off or damaged, and no checkpoint beside it is whole to go on from: {listed}. Bring one "
            "back, or remove them to train from the start"
        )
    told = integrity.describe(newest)
    logger.warning("%s was cut off or damaged: going on from %s, the newest whole one", path, told)
    return newest


def whole(path: Path) -> None:
    reading.regular(path)
    damage = reading.damage(path)
    if damage is not None:
        raise UserError(f"{path} was cut off or damaged: {damage}. Give a whole checkpoint")


def refuse_options_that_name_no_file() -> None:
    """Where --restore-file or --finetune-from-model is a folder, a FIFO or empty, fairseq trains from the start without
    a word (trainer.py)."""
    original = checkpoint_utils.load_checkpoint

    @functools.wraps(original)
    def load_checkpoint(cfg: typing.Any, trainer: Trainer, **passed_on: typing.Any) -> typing.Any:
        if cfg.restore_file != LAST and not trainer.checkpoint_suffix:
            demand_file("--restore-file", cfg.restore_file)
        if cfg.finetune_from_model is not None and not Path(cfg.save_dir, LAST).is_file():
            demand_file("--finetune-from-model", cfg.finetune_from_model)
        return original(cfg, trainer, **passed_on)

    checkpoint_utils.load_checkpoint = load_checkpoint


def demand_file(option: str, given: str) -> None:
    if PathManager.path_requires_pathmanager(given):
        return
    if not given:
        raise UserError(
            f"{option} '' names no file; give a checkpoint, or leave the option out to train from the start"
        )
    try:
        reading.regular(Path(given))
    except UserError as error:
        raise UserError(f"{option} {error}, or leave the option out to train from the start") from error
