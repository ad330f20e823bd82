"""Checkpoints that are there whole or not at all, and a training that resumes from the newest complete one."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.file_io import PathManager
from fixture_types import Once
from programs import commands
from programs.processes import said
from programs.tiny_training import tiny_training

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.checkpoints import checkpoint_files
from reliability import kills, trainings
from reliability.disks import files_up_to

STATE = {"model": {"w": torch.ones(1 << 18)}}  # a megabyte


@pytest.fixture
def little_room() -> Iterator[None]:
    """The kernel lets no file grow over a quarter of a megabyte."""
    with files_up_to(1 << 18):
        yield


@pytest.fixture
def large(tmp_path: Path) -> Path:
    torch.save(STATE, tmp_path / "large.pt")
    return tmp_path / "large.pt"


@pytest.mark.stock
@pytest.mark.usefixtures("large", "little_room")
def test_stock_fairseq_still_copies_over_what_was_there(large: Path) -> None:
    last = large.with_name("checkpoint_last.pt")
    last.write_bytes(b"the one of before")
    with pytest.raises(OSError, match="File too large"):
        PathManager.copy.__wrapped__(str(large), str(last), True)
    assert last.read_bytes() == large.read_bytes()[: last.stat().st_size], "copy_atomically may be no longer needed"


@pytest.mark.usefixtures("large", "little_room")
def test_a_copy_that_fails_leaves_what_was_there(large: Path) -> None:
    last = large.with_name("checkpoint_last.pt")
    last.write_bytes(b"the one of before")
    with pytest.raises(UserError, match=r"checkpoint_last\.pt: File too large: [\d,]+ more bytes are needed, "):
        PathManager.copy(str(large), str(last), overwrite=True)
    assert last.read_bytes() == b"the one of before"
    assert sorted(path.name for path in large.parent.iterdir()) == ["checkpoint_last.pt", "large.pt"]


@pytest.mark.stock
@pytest.mark.usefixtures("little_room")
def test_stock_fairseq_still_leaves_a_part_and_tries_thrice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(checkpoint_utils.time, "sleep", waits.append)
    with pytest.raises((OSError, RuntimeError)):
        checkpoint_utils.torch_persistent_save.__wrapped__(STATE, str(tmp_path / "a.pt"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt.tmp"], "save_atomically may be no longer needed"
    assert waits == [2.5, 2.5]


@pytest.mark.usefixtures("little_room")
def test_a_checkpoint_without_room_is_not_there_and_the_error_says_why(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.pt: File too large: more room is needed, [\d,]+ are free; fix that"):
        checkpoint_utils.torch_persistent_save(STATE, str(tmp_path / "a.pt"))
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def killed(trial_corpus: Path, once: Once) -> Path:
    """An undisturbed run, and one that was killed while it wrote a checkpoint; `make reliability` kills at random."""

    def survive(folder: Path) -> None:
        words = kills.command(trial_corpus, folder / "killed", 50)
        assert kills.cut(words, folder / "killed", folder / "killed.log", update=21)
        with commands.starting_forks():
            for name in ("undisturbed", "killed"):
                kills.train(trial_corpus, folder / name, 50)
        kills.agree(*(folder / name / kills.CHECKPOINT for name in ("undisturbed", "killed")), kills.KEPT)

    return once("kills", survive)


def test_killed_while_it_writes_the_parameters_are_those_of_the_undisturbed_run(killed: Path) -> None:
    """The fixture has compared them; what it compared is what is meant."""
    state = trainings.load(killed / "killed/checkpoint_last.pt")
    assert trainings.updates(killed / "killed/checkpoint_last.pt") == 50
    profile = [float(value) for name, value in state["model"].items() if name.endswith("shortcut.w0")]
    assert profile
    assert all(w0 > 1 for w0 in profile)
    moments = state["last_optimizer_state"]["state"].values()
    assert all(float(moment["exp_avg_sq"].abs().max()) > 0 for moment in moments)
    other = trainings.load(killed / "killed/checkpoint_1_44.pt")
    assert not trainings.same(state["model"], other["model"])


@pytest.mark.parametrize("problem", ["was cut off or damaged", "is missing"])
def test_a_cut_checkpoint_is_passed_over_and_the_end_is_the_same(
    problem: str, killed: Path, trial_corpus: Path, tmp_path: Path
) -> None:
    """The newest is cut off, checkpoint_last.pt too, or missing; the one before leads to the same parameters."""
    for source in sorted((killed / "undisturbed").iterdir()):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    newest = max(trainings.updates(path) for path in tmp_path.glob("checkpoint_*_*.pt"))
    for name in ("checkpoint_last.pt", next(tmp_path.glob(f"checkpoint_*_{newest}.pt")).name):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-1000])
    if problem == "is missing":
        (tmp_path / "checkpoint_last.pt").unlink()
    with commands.starting_forks():
        done = trainings.run(kills.command(trial_corpus, tmp_path, 50))
    assert done.returncode == 0, done.stdout
    match = re.search(
        rf"checkpoint_last\.pt {problem}: resuming from (\S+) \([\d,]+ bytes, (\d+) updates\)", done.stdout
    )
    assert match
    assert int(match[2]) < newest
    assert f"Loaded checkpoint {tmp_path / match[1]} " in done.stdout
    kills.agree(killed / "undisturbed/checkpoint_last.pt", tmp_path / "checkpoint_last.pt", kills.KEPT)


def trainer(folder: Path, restore_file: str = "checkpoint_last.pt") -> Any:
    checkpoint = SimpleNamespace(save_dir=str(folder), restore_file=restore_file, no_save=False)
    ranks = {"data_parallel_rank": 0, "data_parallel_world_size": 1, "is_data_parallel_master": True}
    return SimpleNamespace(cfg=SimpleNamespace(checkpoint=checkpoint), checkpoint_suffix="", **ranks)


def test_none_whole_lists_what_was_found(tmp_path: Path, large: Path) -> None:
    whole = large.read_bytes()
    for name, length in {"checkpoint_last.pt": 100, "checkpoint1.pt": 2000, "checkpoint2.pt": len(whole)}.items():
        (tmp_path / name).write_bytes(whole[:length])
    with pytest.raises(UserError) as refused:
        checkpoint_files.choose_checkpoint(trainer(tmp_path), str(tmp_path / "checkpoint_last.pt"))
    assert str(refused.value) == (
        f"{tmp_path}/checkpoint_last.pt was cut off or damaged, and no complete checkpoint is beside it: "
        "checkpoint1.pt (2,000 bytes, cut off or damaged); "
        f"checkpoint2.pt ({len(whole):,} bytes, nothing to resume from); "
        "checkpoint_last.pt (100 bytes, cut off or damaged). Restore one, or remove them to train from the start"
    )


def test_a_checkpoint_that_is_named_is_there_and_complete(tmp_path: Path, large: Path) -> None:
    path = tmp_path / "checkpoint3.pt"
    path.write_bytes(large.read_bytes()[:-1])
    problems = {path: r" was cut off or damaged: .* Give a complete checkpoint"}
    problems |= {tmp_path: " is a folder", tmp_path / "absent.pt": ": no such file"}
    for named, problem in problems.items():
        with pytest.raises(UserError, match=f"{named}{problem}"):
            checkpoint_files.choose_checkpoint(trainer(tmp_path, str(named)), str(named))


def test_a_folder_that_disappeared_is_not_created_again(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    patched = trainer(folder)
    with pytest.raises(UserError, match=r"--save-dir .*checkpoints has disappeared since the training began"):
        checkpoint_utils.save_checkpoint(patched.cfg.checkpoint, patched, None, None)
    assert not folder.exists()


@pytest.mark.parametrize("beside", [None, "checkpoint_avg.pt"])
def test_no_checkpoint_yet_is_a_start(beside: str | None, tmp_path: Path) -> None:
    path = str(tmp_path / "checkpoint_last.pt")
    if beside:
        torch.save({"model": {}}, tmp_path / beside)
    assert checkpoint_files.choose_checkpoint(trainer(tmp_path), path) == path


def test_a_training_that_began_with_another_continues_from_its_newest_checkpoint(
    toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """Its checkpoint_last.pt was never written, and the model that it began with is removed meanwhile."""
    command = tiny_training(toy_corpus, user_dir, "--max-tokens", 400)
    model = tmp_path / "first/checkpoint_last.pt"
    said([*command, "--max-update", "1", "--save-dir", str(model.parent)], tmp_path)
    begun = [*command, "--finetune-from-model", str(model), "--save-interval-updates", "1", "--no-last-checkpoints"]
    begun += ["--save-dir", str(tmp_path / "run")]
    said([*begun, "--max-update", "2"], tmp_path)
    model.unlink()
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.pt")}
    again = said([*begun, "--max-update", "3"], tmp_path)
    assert f"Loaded checkpoint {tmp_path}/run/checkpoint_1_2.pt (epoch 1 @ 2 updates)" in again
    after = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.pt")}
    assert after.items() > before.items()
    assert after.keys() - before.keys() == {"checkpoint_1_3.pt"}


def test_a_model_among_the_checkpoints_is_begun_with(tmp_path: Path) -> None:
    """Else nobody could finetune in the folder of the training before."""
    torch.save(
        {"optimizer_history": [{"num_updates": 3}], "last_optimizer_state": {"a": 1}}, tmp_path / "checkpoint1.pt"
    )
    assert checkpoint_files.has_lost_its_last(tmp_path, tmp_path.parent / "checkpoint1.pt")
    assert not checkpoint_files.has_lost_its_last(tmp_path, tmp_path / "checkpoint1.pt")
    (tmp_path / "checkpoint_last.pt").touch()
    assert not checkpoint_files.has_lost_its_last(tmp_path, tmp_path.parent / "checkpoint1.pt")
