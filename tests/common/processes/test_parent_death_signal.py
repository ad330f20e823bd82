"""A child that is asked to die with its parent does, even where the parent is killed before the child asks for it."""

from pathlib import Path

import pytest
from programs.processes import started
from programs.stopped import go_on_and_end, wait_until_stopped

SUBPROCESS = """
import subprocess, sys
from realformer_nmt.common.processes.parent_death_signal import dependent_child
stop = "import os, signal; print(os.getpid(), flush=True); os.kill(os.getpid(), signal.SIGSTOP); input()"
subprocess.Popen([sys.executable, "-c", stop], stdin=subprocess.PIPE, preexec_fn=dependent_child())
input()
"""
MULTIPROCESSING = """
import multiprocessing, os, signal, time
from realformer_nmt.common.processes.parent_death_signal import die_with_parent

def stop():
    print(os.getpid(), flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    die_with_parent()
    time.sleep(600)

if __name__ == "__main__":
    multiprocessing.get_context({!r}).Process(target=stop).start()
    input()
"""


@pytest.mark.parametrize(
    "source", [SUBPROCESS, *map(MULTIPROCESSING.format, ("spawn", "forkserver"))], ids=["Popen", "spawn", "forkserver"]
)
def test_a_killed_parent_leaves_no_child(source: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(source)
    parent, child = started(script)
    wait_until_stopped(int(child))
    parent.kill()
    parent.wait(timeout=60)
    go_on_and_end(int(child))
