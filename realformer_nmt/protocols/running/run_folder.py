"""The folder of a training: a new one, an empty one, or one that holds a run."""

from pathlib import Path

from realformer_nmt.checkpoints.run_files import CELL, CHECKPOINTS, RECORD
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.stages import outputs

RUN = (RECORD, "checkpoint*.pt", f"{CHECKPOINTS}/checkpoint*.pt")
BEGUN = (".lock-*", CELL)  # files of `train` before it writes its record, and of `compare`


def check_folder(folder: Path) -> None:
    """Refuse a folder with files of another program. Empty files, such as a new log, do not count."""
    outputs.check_folder(folder)
    if _first(folder, RUN):
        return
    files = [path for path in sorted(folder.glob("[!.]*")) if not path.is_file() or path.stat().st_size]
    if files and not _first(folder, BEGUN):
        raise UserError(f"{folder} holds {files[0].name} and no run of `realformer-nmt train`: name another --folder")


def _first(folder: Path, patterns: tuple[str, ...]) -> Path | None:
    return next((path for pattern in patterns for path in sorted(folder.glob(pattern))), None)
