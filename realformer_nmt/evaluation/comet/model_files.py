"""Files of a COMET model: a folder as the hub's snapshots have it, its checkpoint, or the hub's name."""

from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common import extras
from realformer_nmt.common.errors import UserError, one_line

EXTRA = "huggingface"
HPARAMS, CHECKPOINT = "hparams.yaml", "checkpoints/model.ckpt"
ENCODER = "encoder"  # in the folder: the encoder's config.json and tokenizer, where the hub cannot be reached
LAYOUT = f"allowed are a folder with {HPARAMS} and {CHECKPOINT}, this checkpoint, or the hub's name of one"


class ModelFiles(NamedTuple):
    """Files of a model, and the name that a signature has for it."""

    name: str
    folder: Path
    checkpoint: Path

    @property
    def hparams(self) -> Path:
        return self.folder / HPARAMS

    @property
    def inputs(self) -> dict[str, Path]:
        """All files that its scores depend on, by the names that messages use; the encoder's may be the hub's."""
        encoder = sorted(path for path in (self.folder / ENCODER).glob("*") if path.is_file())
        beside = {f"comet's {path.relative_to(self.folder)}": path for path in (self.hparams, *encoder)}
        return {"comet": self.checkpoint, **beside}


def find(model: str) -> ModelFiles:
    """Return the files of the model that --comet names; a model of the hub is downloaded once."""
    path = Path(model)
    if path.exists():
        folder = (path.parent / "..").resolve() if path.is_file() else path  # files in the hub's cache are links
        files = ModelFiles(folder.resolve().name, folder, path if path.is_file() else folder / CHECKPOINT)
    elif path.is_absolute() or len(path.parts) != 2 or path.parts[0] == "..":
        raise UserError(f"--comet {model}: no such file; {LAYOUT}")
    else:
        folder = snapshot(model)
        files = ModelFiles(path.name, folder, folder / CHECKPOINT)
    for file in (files.hparams, files.checkpoint):
        if not file.is_file():
            raise UserError(f"--comet: {file}: no such file; {LAYOUT}")
    return files


def snapshot(model: str) -> Path:
    """Return the folder of a model of the hub: from its cache, or else downloaded now."""
    extras.check(EXTRA)
    from huggingface_hub import snapshot_download  # which comes with transformers

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except Exception:  # it is not in the cache
        try:
            return Path(snapshot_download(model))
        except Exception as error:
            raise UserError(
                f"--comet {model}: no such folder, and taken for a name of the hub it cannot be downloaded "
                f"({one_line(error)[:200]}): name a folder that exists, or connect to the internet, and log in "
                "where the model asks for it"
            ) from error
