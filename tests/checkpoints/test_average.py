"""The command: of a real training, what it refuses, and what it takes for made."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from programs import argv
from tiny_models import saved
from tiny_models.snapshots import save

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.inspection import inspect
from realformer_nmt.common.errors import UserError


def test_the_average_of_several_is_not_that_of_one_of_them(tmp_path: Path) -> None:
    one, other = (save(tmp_path / f"{value}.pt", {"w": torch.full((3,), float(value))}) for value in (1, 2))
    output = tmp_path / "average.pt"
    assert argv.read(AverageRequest, one, other, "--output", output).run() == 0
    for member in (one, other):
        with pytest.raises(UserError, match="models was 2, is now nothing"):
            argv.read(AverageRequest, member, "--output", output).run()
    one.unlink()
    assert argv.read(AverageRequest, one, other, "--output", output).run() == 0
    assert torch.load(output, weights_only=True)["model"]["w"].tolist() == [1.5] * 3


def test_a_folder_or_a_file_that_is_not_there_is_no_average_of_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Checkpoints may be removed with their folder; an empty folder and a misspelt one never held them."""
    folder, output = tmp_path / "checkpoints", tmp_path / "average.pt"
    folder.mkdir()
    save(folder / "checkpoint1.pt", {"w": torch.ones(2)})
    assert argv.read(AverageRequest, folder, "--last", 1, "--output", output).run() == 0
    shutil.rmtree(folder)
    assert argv.read(AverageRequest, folder, "--last", 1, "--output", output).run() == 0
    assert capsys.readouterr().out.endswith(f"{output}.json: up to date\n")
    (tmp_path / "empty").mkdir()
    for other in ("no-such-folder", "empty"):
        with pytest.raises(UserError, match=rf"{other}/checkpoint1\.pt: no such file"):
            argv.read(AverageRequest, tmp_path / other, "--last", 1, "--output", output).run()
    one, named = save(tmp_path / "one.pt", {"w": torch.ones(2)}), tmp_path / "named.pt"
    assert argv.read(AverageRequest, one, "--output", named).run() == 0
    with pytest.raises(UserError, match=r"two\.pt: no such file"):
        argv.read(AverageRequest, tmp_path / "two.pt", "--output", named).run()


@pytest.mark.parametrize("has_history", [True, False])
def test_an_average_without_updates_has_the_settings_of_its_checkpoints(
    toy_corpus: Path, tmp_path: Path, has_history: bool
) -> None:
    """fairseq counts none at the start of a training and loads the average; others may save no counters."""
    state = saved.state(toy_corpus)
    state["optimizer_history"][0]["num_updates"] = 0
    state["extra_state"]["train_iterator"]["epoch"] = 1
    if not has_history:
        del state["optimizer_history"]
    paths = [saved.save(tmp_path / name, state) for name in ("one.pt", "two.pt")]
    output = tmp_path / "average.pt"
    assert argv.read(AverageRequest, *paths, "--output", output).run() == 0
    averaged = torch.load(output, weights_only=False)
    assert (averaged["cfg"], averaged.keys()) == (state["cfg"], state.keys() - {"last_optimizer_state"})
    if has_history:
        (model,), _ = checkpoint_utils.load_model_ensemble([str(output)])
        assert all(torch.equal(weight, state["model"][name]) for name, weight in model.state_dict().items())


def test_a_real_run_averages_to_an_ordinary_checkpoint(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ADMIN's w0 included."""
    output = tmp_path / "average.pt"
    assert argv.read(AverageRequest, run, "--last", 3, "--output", output).run() == 0
    assert "the average of 3: checkpoint3.pt, checkpoint4.pt, checkpoint5.pt" in capsys.readouterr().out
    states = [checkpoint_fields.load(run / f"checkpoint{epoch}.pt") for epoch in (3, 4, 5)]
    average_state = checkpoint_fields.load(output)
    assert any(name.endswith("shortcut.w0") for name in average_state["model"])
    for name, value in average_state["model"].items():
        rows = np.stack([state["model"][name].numpy().astype(np.float64) for state in states])
        np.testing.assert_allclose(value.numpy(), rows.mean(axis=0), rtol=1e-6, atol=1e-8)
    assert "last_optimizer_state" not in average_state
    assert output.stat().st_size < 0.5 * (run / "checkpoint5.pt").stat().st_size
    members = [(member["file"], member["epoch"]) for member in average_state["extra_state"]["averaged"]]
    assert members == [(f"checkpoint{epoch}.pt", epoch) for epoch in (3, 4, 5)]
    assert inspect(output).parameters == inspect(run / "checkpoint5.pt").parameters
