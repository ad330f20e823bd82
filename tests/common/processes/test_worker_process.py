"""A process beside this one: what it says and how it ends, forked or not; test_jobs.py kills the one that began it."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from realformer_nmt.common.processes.worker_process import begin


def refuse() -> None:
    print("nobody reads this")
    print("first", file=sys.stderr)
    sys.exit("refused")


def fail() -> None:
    raise ValueError("unforeseen")


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("on_gpu", [False, True], ids=["forked", "anew"])
@pytest.mark.parametrize(
    ("work", "status", "last_lines"),
    [
        (os.getpid, 0, []),
        (refuse, 1, ["first", "refused"]),
        (fail, 1, ["ValueError: unforeseen"]),
        (be_killed, -signal.SIGKILL, []),
    ],
)
def test_what_it_says_and_how_it_ends_is_known(
    work: Callable[[], object], status: int, last_lines: list[str], on_gpu: bool, tmp_path: Path
) -> None:
    process = begin(work, tmp_path / "log", 1, on_gpu)
    process.join(timeout=60)
    assert process.exitcode == status
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[len(lines) - len(last_lines) :] == last_lines


def test_begun_anew_it_finds_no_module_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("socket", "torch", "pickle", "multiprocessing", "realformer_nmt"):
        (here / f"{name}.py").write_text("import sys; sys.exit(3)\n")
    monkeypatch.chdir(here)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    process = begin(os.getpid, tmp_path / "log", 1, on_gpu=True)
    process.join(timeout=60)
    assert process.exitcode == 0
