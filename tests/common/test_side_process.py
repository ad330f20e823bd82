"""A process beside this one: what it says and how it ends, forked or not; test_jobs.py kills the one that began it."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from realformer_nmt.common.side_process import begin


def refuse() -> None:
    print("nobody reads this")
    print("first", file=sys.stderr)
    sys.exit("refused")


def fail() -> None:
    raise ValueError("unforeseen")


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("on_gpu", [False, True], ids=["forked", "spawned"])
@pytest.mark.parametrize(
    ("work", "status", "said"),
    [
        (os.getpid, 0, []),
        (refuse, 1, ["first", "refused"]),
        (fail, 1, ["ValueError: unforeseen"]),
        (be_killed, -signal.SIGKILL, []),
    ],
)
def test_what_it_says_and_how_it_ends_is_known(
    work: Callable[[], object], status: int, said: list[str], on_gpu: bool, tmp_path: Path
) -> None:
    process = begin(work, tmp_path / "log", 1, on_gpu)
    process.join()
    assert process.exitcode == status
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[len(lines) - len(said) :] == said
