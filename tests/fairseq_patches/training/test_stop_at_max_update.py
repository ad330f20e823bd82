"""A training that is over, started again: fairseq alone goes on by an update, the plug-in leaves it as it is."""

import sys
from pathlib import Path

import pytest
from programs import commands
from programs.processes import said
from programs.runs import load_state
from programs.tiny_training import SIZE

LENGTH = ("--max-update", 2, "--optimizer", "adam", "--lr", 1e-2, "--max-tokens", 400, "--cpu", "--num-workers", 0)
SCRIPT = commands.fairseq("train")


def updates(folder: Path) -> int:
    number: int = load_state(folder / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"]
    return number


def test_started_again_by_its_module_it_stays_as_it_is(toy_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    """test_patience.py shows that the script does so, too."""
    words = [toy_corpus, "--user-dir", user_dir, "--arch", "transformer", *SIZE, *LENGTH, "--save-dir", tmp_path]
    said([*SCRIPT, *map(str, words)], tmp_path)
    before = (tmp_path / "checkpoint_last.pt").read_bytes()
    again = said([sys.executable, "-m", "fairseq_cli.train", *map(str, words)], tmp_path)
    assert "nothing is left to train: 2 updates of 2" in again
    assert (tmp_path / "checkpoint_last.pt").read_bytes() == before
    assert updates(tmp_path) == 2


@pytest.mark.stock
def test_stock_fairseq_still_goes_on(toy_corpus: Path, tmp_path: Path) -> None:
    words = [toy_corpus, "--arch", "transformer", *SIZE, *LENGTH, "--save-dir", tmp_path]
    for number in (2, 3):
        trusting = {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}  # its own checkpoint
        assert commands.run([*SCRIPT, *map(str, words)], environment=trusting).returncode == 0
        assert updates(tmp_path) == number
