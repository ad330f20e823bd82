"""A stage as a process: its words, its outputs, its status, its environment, its end."""

import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from realformer_nmt.comparison.running.process import PRELOADED, Process


def status(process: Process) -> int:
    for _ in range(1200):
        exit_status = process.poll()
        if exit_status is not None:
            return exit_status
        time.sleep(0.05)
    raise AssertionError("it does not end")


@pytest.mark.parametrize("module", PRELOADED)
def test_what_is_imported_beforehand_is_there(module: str) -> None:
    assert find_spec(module), "multiprocessing would pass over it, and each stage import it again"


def test_output_is_appended_and_the_status_is_the_commands_own(tmp_path: Path, user_dir: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    assert status(Process(["user-dir"], log, {})) == 0
    assert status(Process(["user-dir", "--nonsense"], log, {})) == 2
    assert status(Process(["average", str(tmp_path / "none.pt"), "--output", str(tmp_path / "o.pt")], log, {})) == 1
    lines = log.read_text().splitlines()
    assert lines[:2] == ["before", str(user_dir)]
    assert "unknown option --nonsense" in log.read_text()
    assert "none.pt: no such file" in lines[-1]


def test_torch_has_the_threads_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/__init__.py").write_text("import torch\n\nprint('threads', torch.get_num_threads())\n")
    words = ["inspect", str(tmp_path / "none.pt"), "--user-dir", str(tmp_path / "own")]
    assert status(Process(words, tmp_path / "log", {"OMP_NUM_THREADS": "3"})) == 1
    assert "threads 3" in (tmp_path / "log").read_text()


def test_a_process_that_is_ended_has_not_succeeded(tmp_path: Path) -> None:
    process = Process(["user-dir"], tmp_path / "log", {})
    process.end()
    assert process.poll() is not None
    Process(["user-dir"], tmp_path / "log", {}).end()  # at once, or long after: neither fails
    process.end()
