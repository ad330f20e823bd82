"""The folder of a training: a new one, an empty one, or one that holds a run."""

from pathlib import Path

from realformer_nmt.checkpoints.run_files import CELL, CHECKPOINTS, RECORD
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.stages import outputs
from realformer_nmt.data_bins.file_checks import NAME as PREPARED

RUN = (RECORD, "checkpoint*.pt", f"{CHECKPOINTS}/checkpoint*.pt")
BEGUN = (".lock-*", CELL)  # files of `train` before it writes its record, and of `compare`
DATA = ("dict.txt", "dict.*.txt", "*.idx", PREPARED)


def check_folder(folder: Path) -> None:
    """Refuse a folder with data, or with files of another program. Empty files, such as a new log, do not count."""
    outputs.check_folder(folder)
    if _first(folder, RUN):
        return
    data = _first(folder, DATA)
    if data:
        raise UserError(f"{folder} holds data, {data.name}, and no run: name another --folder, such as {folder}-run")
    files = [path for path in sorted(folder.glob("[!.]*")) if not path.is_file() or path.stat().st_size]
    if files and not _first(folder, BEGUN):
        raise UserError(
            f"{folder} holds {files[0].name} and no run of `realformer-nmt train`: name another --folder, or remove it"
        )


def _first(folder: Path, patterns: tuple[str, ...]) -> Path | None:
    return next((path for pattern in patterns for path in sorted(folder.glob(pattern))), None)
