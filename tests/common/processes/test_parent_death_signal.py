"""A child that is asked to die with its parent does, even where the parent is killed at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from programs.program import REPOSITORY

PARENT = """
import subprocess, sys
from realformer_nmt.common.processes.parent_death_signal import dependent_child_options
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, **dependent_child_options())
print(child.pid, flush=True)
input()
"""


def test_a_killed_parent_leaves_no_child() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env={"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    child = int(parent.stdout.readline())
    os.kill(child, 0)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(200):
        if not alive(child):
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


def alive(process: int) -> bool:
    """A zombie that nobody waits for has ended too."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
