"""The ways to name a COMET model, and the one line for each that leads nowhere."""

from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.comet import model_files


def empty_model(folder: Path) -> Path:
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").touch()
    (folder.parent / "blob").touch()
    (folder / "checkpoints" / "model.ckpt").symlink_to(folder.parent / "blob")  # as in the cache of the hub
    return folder


def test_a_folder_or_its_checkpoint_may_be_named(tmp_path: Path) -> None:
    folder = empty_model(tmp_path / "wmt22-comet-da")
    checkpoint = folder / "checkpoints" / "model.ckpt"
    for named in (folder, checkpoint):
        files = model_files.find(str(named))
        assert (files.name, files.hparams, files.checkpoint) == ("wmt22-comet-da", folder / "hparams.yaml", checkpoint)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = empty_model(tmp_path / "model")
    (folder / "hparams.yaml").unlink()
    with pytest.raises(UserError, match=r"hparams\.yaml: no such file; allowed are a folder with hparams\.yaml and ch"):
        model_files.find(str(folder))
    for path in ("/no/such/folder", "nothing", "../nothing", "a/b/c"):
        with pytest.raises(UserError, match=f"--comet {path}: no such file; allowed are a folder"):
            model_files.find(path)


def test_a_name_of_the_hub_comes_from_its_cache_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        UserError, match=r"--comet Unbabel/wmt22-comet-da: no such folder, and taken for a name of the hub .*internet"
    ):
        model_files.find("Unbabel/wmt22-comet-da")
    stored = tmp_path / "models--Unbabel--wmt22-comet-da"
    (stored / "refs").mkdir(parents=True)
    (stored / "refs" / "main").write_text("0" * 40)
    empty_model(stored / "snapshots" / ("0" * 40))
    files = model_files.find("Unbabel/wmt22-comet-da")
    assert (files.name, files.folder.name) == ("wmt22-comet-da", "0" * 40)
