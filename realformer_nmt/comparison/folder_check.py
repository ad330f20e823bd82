"""Check of --folder, before anything is printed, prepared or trained."""

from pathlib import Path

from realformer_nmt.common.errors import UserError


def check_no_file(folder: Path) -> None:
    """Refuse a folder that is a file, or that would lie in one."""
    for path in (folder, *folder.parents):
        if path.is_file():
            raise UserError(f"{path} is a file: name another --folder, or remove it")
