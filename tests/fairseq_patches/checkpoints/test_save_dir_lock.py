"""A real fairseq-train in a folder where another trains; `make reliability` kills that one and trains on."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from programs import commands

from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.fairseq_patches.checkpoints.save_dir_lock import LOCK, lock
from reliability import trainings


def test_a_second_training_is_refused_in_one_line_before_it_writes(tmp_path: Path, toy_corpus: Path) -> None:
    with locked(tmp_path / "run" / LOCK, "trains in"), commands.starting_forks():
        done = trainings.run(trainings.fairseq_train(toy_corpus, tmp_path / "run", "--max-update", "1"))
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if "another process trains in it; wait, or" in line]
    assert len(lines) == 1
    assert [path.name for path in (tmp_path / "run").iterdir()] == [LOCK]


def test_a_training_on_a_disk_without_locks_is_warned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", flock)
    assert lock(tmp_path) is None
    (warning,) = caplog.messages
    assert f"{tmp_path}/{LOCK} cannot be locked (Function not implemented)" in warning
    assert "see that no other training writes there" in warning
