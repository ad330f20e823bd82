"""--stop-time-hours of a training that is over, and of one that begins with the weights of a longer one."""

from pathlib import Path

import torch
from programs.processes import said
from programs.runs import load_state
from programs.tiny_training import tiny_training


def test_it_ends_the_training_for_good_and_counts_no_hours_of_another(
    toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    training = tiny_training(toy_corpus, user_dir, "--max-tokens", 400)
    first, last = tmp_path / "first", tmp_path / "first/checkpoint_last.pt"
    command = [*training, "--save-dir", str(first), "--stop-time-hours", "1e-7"]
    assert "Stopping training due to cumulative_training_time" in said(command, tmp_path)
    before = last.read_bytes()
    again = said(command, tmp_path)
    assert "nothing is left to train: " in again
    assert " of --stop-time-hours 1e-07" in again
    assert last.read_bytes() == before

    state = load_state(last)
    state["extra_state"]["previous_training_time"] = 36_000  # seconds
    torch.save(state, tmp_path / "long.pt")
    finetuning = ["--finetune-from-model", str(tmp_path / "long.pt"), "--stop-time-hours", "5", "--max-update", "3"]
    said([*training, *finetuning, "--save-dir", str(tmp_path / "tuned")], tmp_path)
    tuned = load_state(tmp_path / "tuned/checkpoint_last.pt")
    assert tuned["optimizer_history"][-1]["num_updates"] == 3
    assert tuned["extra_state"]["previous_training_time"] < 3600
