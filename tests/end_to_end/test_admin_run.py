"""The profile of ADMIN in real runs: once, in the checkpoint, and on two ranks; test_two_ranks.py has all weights."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from programs import commands
from programs.processes import run_all, said
from programs.reports import losses, updates
from programs.runs import Compose, Trained, at_update, load

TORCHRUN = [*commands.TORCHRUN, "--standalone", "--nproc-per-node", "2"]
PROFILE = re.compile(r"ADMIN profile of the first batch, (\w+): w = ([\d., ]+)")


def profile(checkpoint: Path, side: str) -> list[float]:
    weights = load(checkpoint)
    return [float(w0) for name, w0 in weights.items() if name.startswith(side) and name.endswith("_shortcut.w0")]


def test_profile_is_logged_once_and_kept(trained: Callable[[str], Trained]) -> None:
    run = trained("realformer")
    logged = dict(PROFILE.findall(run.killed))
    assert len(PROFILE.findall(run.killed)) == len(logged) == 2
    assert not PROFILE.findall(run.resumed)
    for side in ("encoder", "decoder"):
        first, *weights = map(float, logged[side].split(", "))
        assert first == 1
        for checkpoint in (at_update(run.folder / "checkpoints", 40), run.average):
            assert profile(checkpoint, side) == pytest.approx(weights, abs=5e-4)  # logged with three digits
    assert load(run.average)["decoder.layers.1.ffn_shortcut.delta"].abs().max() > 0.01


@pytest.mark.product
def test_two_ranks_train_as_one_that_accumulates(train: Compose, tmp_path: Path) -> None:
    """Rank 0's first batch is the first micro-batch of --update-freq 2; with another profile on rank 1, the loss over
    both would differ."""
    options = ("--arch", "realformer_tiny", "--share-all-embeddings", "--dropout", 0, "--clip-norm", 1)
    short = ("--max-update", 6, "--log-interval", 1, "--disable-validation", "--no-epoch-checkpoints")
    one = run_all({"one": train(tmp_path / "one", *options, *short, "--update-freq", 2)}, tmp_path)["one"]
    working_directory = tmp_path / "cwd"
    working_directory.mkdir()
    two = said([*TORCHRUN, *train(tmp_path / "two", *options, *short)], working_directory)
    assert updates(two) == updates(one) == [1, 2, 3, 4, 5, 6]
    assert losses(two) == pytest.approx(losses(one), abs=2e-3)
    assert len(PROFILE.findall(two)) == 2
    assert not list(working_directory.iterdir())
    expected, actual = (load(tmp_path / name / "checkpoint_last.pt") for name in ("one", "two"))
    for name, weight in expected.items():
        assert torch.allclose(weight, actual[name], atol=1e-4), name
        assert not name.endswith("w0") or torch.equal(weight, actual[name]), name
