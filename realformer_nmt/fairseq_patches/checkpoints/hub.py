"""from_pretrained (fairseq's hub_utils.py, file_utils.py), of fairseq's models and of this package's."""

import tarfile
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

from fairseq import file_utils, hub_utils
from omegaconf import OmegaConf

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.patch import Original, patch


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


@patch(hub_utils, "from_pretrained")
def ask_for_the_files_of_a_bpe(original: Original, *args: Any, **kwargs: Any) -> Any:
    """Ask the caller for a BPE's files, unless they are in the model's folder.

    fairseq opens or downloads what the checkpoint names. Here only the BPE's name is read from the checkpoint
    (checkpoints/files/configuration.py).
    """
    loaded = original(*args, **kwargs)
    for group in ("bpe", "tokenizer"):
        settings = loaded["args"].get(group) or {}
        for name in map(str, settings):
            if OmegaConf.is_missing(settings, name):
                raise UserError(
                    f"the checkpoint was trained with --{group} {settings['_name']}, and its files are not taken from "
                    f"a checkpoint: pass {name}=FILE to from_pretrained"
                )
    return loaded
