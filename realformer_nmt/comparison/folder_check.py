"""Check of --folder, before anything is printed, prepared or trained."""

from pathlib import Path

from realformer_nmt.checkpoints.run_files import RECORD
from realformer_nmt.common.errors import UserError


def check_no_file(folder: Path) -> None:
    """Refuse a folder that is a file, or that would lie in one."""
    for path in (folder, *folder.parents):
        if path.is_file():
            raise UserError(f"{path} is a file: name another --folder, or remove it")


def check_no_training(folder: Path) -> None:
    """Refuse the folder of a single training, whose files a comparison would stand among."""
    if (folder / RECORD).exists():
        raise UserError(f"{folder} is the folder of a training, with {RECORD}: name another --folder")
