"""A training is killed between the fork of a process that loads its batches and the first line that this runs."""

from pathlib import Path

from programs.commands import kill_after
from programs.stopped import go_on_and_end
from programs.tiny_training import tiny_training

from realformer_nmt.common.files.folder_lock import is_locked
from realformer_nmt.fairseq_patches.checkpoints.save_dir_lock import LOCK

STOPPING = """
import os
import signal

import realformer_nmt

def stop():
    os.write(1, f"stopped {os.getpid()}\\n".encode())
    os.kill(os.getpid(), signal.SIGSTOP)

os.register_at_fork(after_in_child=stop)
"""


def test_a_process_that_loads_batches_ends_whenever_its_training_is_killed(toy_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "stopping").mkdir()
    (tmp_path / "stopping/__init__.py").write_text(STOPPING)
    options = ("--save-dir", tmp_path, "--max-tokens", 800, "--max-epoch", 1, "--num-workers", 1)
    command = tiny_training(toy_corpus, tmp_path / "stopping", *options)
    output = kill_after(command, tmp_path, lambda line: line.startswith("stopped "))
    go_on_and_end(int(output.split()[-1]))
    assert not is_locked(tmp_path / LOCK)
