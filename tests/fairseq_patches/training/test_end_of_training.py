"""A training that is over, started again: fairseq alone goes on, the plug-in leaves it as it is."""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fairseq_cli import train
from programs import commands
from programs.processes import said
from programs.runs import load_state
from programs.tiny_training import SIZE

from realformer_nmt.fairseq_patches.training import end_of_training

CFG = SimpleNamespace(checkpoint=SimpleNamespace(patience=2, maximize_best_checkpoint_metric=False))
STILL = ("--optimizer", "sgd", "--lr", 1e-12, "--max-tokens", 400, "--cpu", "--num-workers", 0)  # the loss stays
LENGTH = ("--max-update", 2, "--optimizer", "adam", "--lr", 1e-2, "--max-tokens", 400, "--cpu", "--num-workers", 0)
save = inspect.unwrap(end_of_training.save_the_patience)
load = inspect.unwrap(end_of_training.resume_with_the_patience)


@pytest.fixture(autouse=True)
def counter() -> Any:
    """Return what fairseq's function has counted; it is empty, as in a new process, before and after a test."""
    counts = vars(train.should_stop_early)
    counts.clear()
    yield counts
    counts.clear()


def saved(counts: dict[str, Any]) -> dict[str, Any]:
    """Return the extra state of a checkpoint after a validation of 3 and one of 4, and end the process."""
    assert not any(train.should_stop_early(CFG, loss) for loss in (3.0, 4.0))
    extra_state: dict[str, Any] = save(lambda _: {"extra_state": {}}, None)["extra_state"]
    counts.clear()
    return extra_state


def test_a_resumed_training_ends_as_without_interruption(counter: dict[str, Any]) -> None:
    extra_state = saved(counter)
    assert load(lambda *_, **__: extra_state, None, "checkpoint_last.pt", reset_meters=False) is extra_state
    assert train.should_stop_early(CFG, 3.5)  # the second validation that is no better than 3


@pytest.mark.parametrize(
    ("reset_optimizer", "reset_meters", "extra_state"), [(True, True, True), (False, True, True), (False, False, False)]
)
def test_another_training_begins_at_0(
    reset_optimizer: bool, reset_meters: bool, extra_state: bool, counter: dict[str, Any]
) -> None:
    """The last has no checkpoint to resume from."""
    state = saved(counter) if extra_state else None
    load(lambda *_, **__: state, None, "checkpoint_last.pt", reset_optimizer, reset_meters=reset_meters)
    assert not any(train.should_stop_early(CFG, loss) for loss in (4.0, 4.5))
    assert train.should_stop_early(CFG, 5.0)


@pytest.mark.parametrize(
    ("patience", "max_update", "ends"),
    [(2, 0, True), (3, 0, False), (-1, 0, False), (-1, 8, False), (-1, 7, True), (3, 6, True)],
)
def test_after_7_updates_it_trains_on_with_a_larger_limit_alone(
    patience: int, max_update: int, ends: bool, counter: dict[str, Any]
) -> None:
    counter.update(best=3.0, num_runs=2)
    limits = {"checkpoint": SimpleNamespace(patience=patience), "optimization": SimpleNamespace(max_update=max_update)}
    trainer = SimpleNamespace(get_num_updates=lambda: 7)
    ended = end_of_training.train(lambda *_: "trained", SimpleNamespace(**limits), trainer, None, None)
    assert ended == (([None], True) if ends else "trained")


def test_started_again_by_its_module_a_training_that_is_over_stays_as_it_is(
    toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """The second epoch is no better than the first: fairseq alone would train a third."""
    words = [toy_corpus, "--user-dir", user_dir, "--arch", "transformer", *SIZE, *STILL, "--patience", 1]
    words += ["--max-epoch", 5, "--save-dir", tmp_path]
    assert "early stop since" in said(commands.fairseq("train", *words), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.pt")}
    assert "checkpoint2.pt" in before
    again = said([commands.python_of_forks(), "-m", "fairseq_cli.train", *map(str, words)], tmp_path)
    assert "nothing is left to train: validations without an improvement: 1 of --patience 1" in again
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.pt")} == before


@pytest.mark.stock
def test_stock_fairseq_still_goes_on(toy_corpus: Path, tmp_path: Path) -> None:
    words = [toy_corpus, "--arch", "transformer", *SIZE, *LENGTH, "--save-dir", tmp_path]
    for number in (2, 3):
        trusting = {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}  # its own checkpoint
        assert commands.run([*commands.fairseq("train"), *map(str, words)], environment=trusting).returncode == 0
        assert load_state(tmp_path / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] == number
