"""A script without `if __name__ == "__main__"` runs once, and its workers work."""

import subprocess
import sys
from pathlib import Path

import pytest
from programs.program import REPOSITORY

POOL = """
from realformer_nmt.corpora.parallel import ordered
print(list(ordered(len, ["a", "bc"], 2)))
"""
PROCESS = """
import sys, time
from pathlib import Path
from realformer_nmt.comparison.running.process import Process
process = Process(["user-dir"], Path(sys.argv[1]), {})
while process.poll() is None:
    time.sleep(0.05)
print(process.poll())
"""


@pytest.mark.parametrize(("source", "result"), [(POOL, "[('a', 1), ('bc', 2)]\n"), (PROCESS, "0\n")])
def test_a_script_without_a_guard_runs_once(source: str, result: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"print('begun', flush=True)\n{source}print(__spec__)\n")
    command = [sys.executable, str(script), str(tmp_path / "log")]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"begun\n{result}None\n"), done.stderr
