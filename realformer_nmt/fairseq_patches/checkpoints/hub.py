"""from_pretrained, of fairseq's models and of this package's."""

import tarfile
from pathlib import PurePosixPath
from types import SimpleNamespace

from fairseq import file_utils

from realformer_nmt.common.errors import UserError


class _WithinFolder(tarfile.TarFile):
    """Archive of plain files and folders that stay below the folder that it is unpacked into."""

    def getmembers(self) -> list[tarfile.TarInfo]:
        members = super().getmembers()
        for member in members:
            path = PurePosixPath(member.name)
            if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
                raise UserError(
                    f"{self.name!s} holds {member.name!r}, which is no file or folder below its own; nothing was "
                    "unpacked. If you trust it, unpack it yourself and give the folder"
                )
        return members


def unpack_within_a_folder() -> None:
    """Refuse archives with members that lead elsewhere: fairseq unpacks them there (file_utils.py)."""
    file_utils.tarfile = SimpleNamespace(open=_WithinFolder.open)
