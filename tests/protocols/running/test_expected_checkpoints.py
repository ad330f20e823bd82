"""Trainings that end inside an epoch: what they leave is counted before, and their last state is what is averaged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from programs.program import realformer_nmt

from realformer_nmt.checkpoints import selection
from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.protocol import Protocol, load
from realformer_nmt.protocols.running import expected_checkpoints, updates

TINY = ["--arch", "realformer", "--layers", "1", "--gpus", "0", "--tokens-a-step", "1000", "--max-tokens", "1000"]
FLAGS = [f"--{side}-{part}-dim" for side in ("encoder", "decoder") for part in ("embed", "ffn-embed")]
FLAGS = ["--", *(word for flag in FLAGS for word in (flag, "16")), "--warmup-updates", "1", "--num-workers", "0"]
BATCH = ["--max-tokens", "1000"]
BEST = ["--keep-best-checkpoints", "2", "--no-epoch-checkpoints"]


def length(data: Path, *words: object) -> tuple[Any, updates.Length]:
    cfg = updates.parse([str(data), "--arch", "realformer", *BATCH, *map(str, words)])
    return cfg, updates.length(cfg, updates.set_up(cfg), 1)


@pytest.fixture(scope="module")
def trained(toy_corpus: Path, once: Callable[..., Path]) -> tuple[Path, updates.Length]:
    """Return the folder of a training of one epoch and a half, and what was counted."""
    number = length(toy_corpus, "--max-epoch", 1)[1].updates * 3 // 2

    def build(folder: Path) -> None:
        words = ["train", "--data", toy_corpus, "--folder", folder, *TINY, "--updates", number, "--average", "1"]
        done = realformer_nmt(*words, *FLAGS)
        assert done.returncode == 0, done.stderr[-3000:]

    folder = once("ends_at_150", build) / "checkpoints"
    return folder, length(toy_corpus, "--max-update", number, "--keep-last-epochs", 1)[1]


def test_the_last_state_is_what_is_averaged(trained: tuple[Path, updates.Length], tmp_path: Path) -> None:
    folder, counted = trained
    end = torch.load(folder / "checkpoint_last.pt", weights_only=True)
    assert end["optimizer_history"][-1]["num_updates"] == counted.updates
    assert (counted.epochs, counted.rest > 0) == (1, True)
    assert main(["average", str(folder), "--last", "1", "--output", str(tmp_path / "one.pt")]) == 0
    weights = torch.load(tmp_path / "one.pt", weights_only=True)["model"]
    assert weights.keys() == end["model"].keys()
    assert all(torch.equal(weights[name], weight) for name, weight in end["model"].items())


def test_the_end_counts_beside_the_epochs_before_it(trained: tuple[Path, updates.Length], toy_corpus: Path) -> None:
    folder, counted = trained
    names = [path.name for path in selection.last(folder, 2, selection.EPOCH)]
    assert names == ["checkpoint1.pt", "checkpoint_last.pt"]
    cfg, _ = length(toy_corpus, "--max-update", counted.updates, "--keep-last-epochs", 1)
    assert expected_checkpoints.last(cfg, counted) == 2
    with pytest.raises(UserError, match="asked for 3 epoch checkpoints, found 2"):
        selection.last(folder, 3, selection.EPOCH)


@pytest.mark.parametrize(
    ("words", "kind", "limit"),
    [
        (["--max-epoch", 3, "--keep-last-epochs", 2], "last", 2),
        (["--max-update", 1], "last", 1),
        (["--max-epoch", 4, "--save-interval", 2], "last", 2),
        (["--max-epoch", 4, "--no-epoch-checkpoints"], "last", 1),
        (["--max-epoch", 9, *BEST], "best", 2),
        (["--max-update", 1, *BEST], "best", 1),
        (["--max-epoch", 1, "--save-interval-updates", 3, *BEST], "best", 2),
        (["--max-update", 6, "--save-interval-updates", 3, "--keep-best-checkpoints", 9], "best", 2),
        (["--max-epoch", 3, "--validate-interval", 3, *BEST], "best", 1),
    ],
)
def test_more_states_than_will_be_kept_are_refused(
    toy_corpus: Path, words: list[object], kind: Any, limit: int
) -> None:
    cfg, counted = length(toy_corpus, *words)
    expected_checkpoints.check(_averaging(limit, kind), cfg, counted)
    with pytest.raises(
        UserError, match=rf"^{limit + 1} checkpoints are to be averaged.* keep {limit} .*--average {limit}"
    ):
        expected_checkpoints.check(_averaging(limit + 1, kind), cfg, counted)


@pytest.mark.parametrize(
    "words",
    [
        ["--max-epoch", 3, "--no-save"],
        ["--max-epoch", 3, "--save-interval", 2],
        ["--max-update", 1, "--no-last-checkpoints"],
    ],
)
def test_an_end_that_is_not_saved_is_refused(toy_corpus: Path, words: list[object]) -> None:
    with pytest.raises(UserError, match="would not be saved"):
        expected_checkpoints.check(_averaging(1, "last"), *length(toy_corpus, *words))


def _averaging(number: int, kind: Any) -> Protocol:
    return replace(load("small"), average=number, average_of=kind)


@pytest.mark.parametrize(
    ("epochs", "total", "expected"),
    [([5], 12, (2, 2)), ([5], 4, (0, 4)), ([5, 3], 5, (1, 0)), ([5, 3], 11, (3, 0)), ([5, 3], 4, (0, 4))],
)
def test_whole_epochs_and_what_is_after_them(epochs: list[int], total: int, expected: tuple[int, int]) -> None:
    assert updates.complete_epochs(epochs, total) == expected
