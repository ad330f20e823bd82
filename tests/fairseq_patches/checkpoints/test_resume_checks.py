"""A training resumes from a checkpoint of its model, with the state of its optimizer."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from omegaconf import OmegaConf
from programs import commands
from programs.fairseq_config import configured
from programs.processes import said
from programs.tiny_training import tiny_training

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.checkpoints import resume_checks


def test_a_multilingual_model_resumes_from_its_own_checkpoint_alone(tmp_path: Path) -> None:
    options = ("--arch", "multilingual_post_ln_tiny", "--task", "multilingual_translation", "--lang-pairs", "a-b")
    path, cfg = tmp_path / "one.pt", configured(*options)
    torch.save({"model": {}, "cfg": OmegaConf.to_container(cfg)}, path)
    resume_checks.check_same_model(path, SimpleNamespace(cfg=cfg, task=None))
    deeper = SimpleNamespace(cfg=configured(*options, "--encoder-layers", 7), task=None)
    with pytest.raises(UserError, match=r"one\.pt is of another model: --encoder-layers was 2 there and is 7 here"):
        resume_checks.check_same_model(path, deeper)


def test_a_training_without_the_state_of_its_optimizer_does_not_begin_again(
    toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """Its weights may be begun with where the user says so, and elsewhere."""
    length = ("--max-tokens", 400, "--max-update", 3)
    command = tiny_training(toy_corpus, user_dir, *length, "--no-save-optimizer-state")
    here, last = ["--save-dir", str(tmp_path / "run")], tmp_path / "run/checkpoint_last.pt"
    said([*command, *here], tmp_path)
    before = last.read_bytes()
    again = commands.run([*command, *here], folder=tmp_path, together=True)
    assert again.returncode == 1
    assert (
        f"{last}, of 3 updates, has no state of the optimizer to resume with, as after --no-save-optimizer-state: pass"
        in again.stdout
    )
    assert last.read_bytes() == before
    for options in (["--restore-file", str(last), "--save-dir", str(tmp_path / "x")], [*here, "--reset-optimizer"]):
        assert f"Loaded checkpoint {last} (epoch 1 @ 0 updates)" in said([*command, *options], tmp_path)
