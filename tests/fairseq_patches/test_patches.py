"""Answers of stock fairseq, and of fairseq patched, as far as a probe can tell in one process.

A test of a stock answer that fails has good news: upstream no longer needs the fix that it names.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixture_types import Command
from programs.stock_runs import TINY

from realformer_nmt.fairseq_patches.messages import quiet

ANSWERS = {  # probe: patch, stock fairseq's answer, the patched one's
    "sentences_batched": ("keep_last_batch", 200, 203),
    "tpu_of_bf16": ("train_in_bf16_without_tpu", [True, True], [False, True]),
    "fp32_weights_resumed": ("resume_with_the_fp32_weights", False, True),
    "lines_logged_in_three_epochs": ("log_each_line_once", [1, 2, 3], [1, 1, 1]),
    "root_logger_level": ("quieten_root_logger", 10, 20),
    "warnings_shown": ("quieten_warnings", ["FutureWarning", "UserWarning"], ["UserWarning"]),
    "good_loads_and_bad_does_not_run": ("read_checkpoints_safely", False, True),
    "model_on_the_cpu": ("wrap_models_on_the_cpu", "fails", "ModuleProxyWrapper"),
}


Answers = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("probe", ANSWERS)
def test_patched_fairseq_gives_the_right_answer(compat_answers: Answers, probe: str) -> None:
    assert compat_answers("patched")[probe] == ANSWERS[probe][2]


@pytest.mark.stock
@pytest.mark.parametrize("probe", ANSWERS)
def test_stock_fairseq_still_needs_the_patch(compat_answers: Answers, probe: str) -> None:
    patch, stock, _ = ANSWERS[probe]
    assert compat_answers("stock")[probe] == stock, (
        f"upstream changed: {patch} may be no longer needed, or in other words"
    )


def errors_of_training(fairseq: Command, corpus: Path, folder: Path, *options: object) -> str:
    """Return what 30 updates with a validation write to stderr."""
    updates = ("--max-tokens-valid", 4000, "--max-update", 30)
    return fairseq("train", corpus, *TINY, *updates, *options, "--save-dir", folder).stderr


def test_training_says_nothing_but_its_log(fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    assert errors_of_training(fairseq, toy_corpus, tmp_path, "--user-dir", user_dir) == ""


@pytest.mark.stock
def test_stock_fairseq_still_says_what_nobody_can_act_on(fairseq: Command, toy_corpus: Path, tmp_path: Path) -> None:
    not_always = {  # on many ranks only; not by torch 2.4; as a DeprecationWarning, which Python hides
        r"`broadcast_buffers` is deprecated",
        r"'pin_memory' argument is set as true but no accelerator is found",
        r"`torch\.jit\.script` is deprecated",
    }
    stderr = errors_of_training(fairseq, toy_corpus, tmp_path)
    unsaid = {message for _, message in quiet.UNACTIONABLE if not re.search(message, stderr)}
    assert unsaid <= not_always, "quieten_warnings need not filter these any more"


# The thread that prefetches batches has 1,400 still to do when the training ends
AHEAD = ("--upsample-primary", 50, "--data-buffer-size", 100_000)
MUCH_AHEAD = (*AHEAD, "--max-update", 2, "--disable-validation", "--no-save")


def test_ending_within_an_epoch_is_success(fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path) -> None:
    done = fairseq("train", toy_corpus, *TINY, *MUCH_AHEAD, "--save-dir", tmp_path, "--user-dir", user_dir)
    assert "done training" in done.stdout
    assert done.returncode == 0


@pytest.mark.stock
def test_stock_fairseq_may_still_abort_when_it_ends_within_an_epoch(
    fairseq: Command, toy_corpus: Path, tmp_path: Path
) -> None:
    """Show it in three trainings: whether one aborts is a race."""
    trainings = (fairseq("train", toy_corpus, *TINY, *MUCH_AHEAD, "--save-dir", tmp_path) for _ in range(3))
    aborted = (done.stderr.rstrip().endswith("terminate called without an active exception") for done in trainings)
    assert any(aborted), "end_prefetching_before_exit can go"
