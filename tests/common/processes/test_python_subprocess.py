"""A program sees PYTHONPATH and its arguments, and no module of the current folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from realformer_nmt.common.processes.python_subprocess import program
from realformer_nmt.protocols.command import runnable

TOLD = "import json, os, sys; print(json.dumps([*sys.argv[1:], os.path.basename(sys.argv[0]), __name__]))"
SHADOWS = ("json", "runpy", "pkgutil", "victim", "torch", "fairseq_cli")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder of modules that leave a file behind, beside one on PYTHONPATH."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "victim.py").write_text(TOLD)
    here = tmp_path / "here"
    here.mkdir()
    for name in SHADOWS:
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\nraise SystemExit(3)\n")
    return here


def run(words: list[str], folder: Path, **environment: str) -> str:
    path = os.pathsep.join(filter(None, (str(folder.parent / "lib"), os.environ.get("PYTHONPATH"))))
    base = {**{key: os.environ[key] for key in os.environ if key != "PYTHONSAFEPATH"}, "PYTHONPATH": path}
    done = subprocess.run(words, cwd=folder, env={**base, **environment}, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("environment", [{}, {"PYTHONSAFEPATH": "1"}])
def test_modules_of_the_current_folder_are_left_alone(trap: Path, environment: dict[str, str]) -> None:
    output = run(program("victim", "--flag", "a b"), trap, **environment)
    assert output == '["--flag", "a b", "victim.py", "__main__"]\n'
    assert not (trap.parent / "pwned").exists()


def test_what_it_starts_leaves_them_alone_too(trap: Path) -> None:
    again = f"import subprocess, sys; subprocess.run([{sys.executable!r}, '-m', 'victim'], check=True)"
    (trap.parent / "lib" / "starter.py").write_text(again)
    if sys.version_info >= (3, 11):  # which knows PYTHONSAFEPATH
        assert '"__main__"' in run(program("starter"), trap)
        assert not (trap.parent / "pwned").exists()


def test_torchrun_starts_its_processes_in_the_same_way() -> None:
    options = ["--nproc-per-node", "2", "--standalone"]
    trainer = program("fairseq_cli.train", "data", "-m", "x")
    words = runnable(["torchrun", *options, "-m", "fairseq_cli.train", "data", "-m", "x"])
    assert words == program("torch.distributed.run", *options, "--no-python", *trainer)
    assert runnable(["fairseq-train", "data"]) == program("fairseq_cli.train", "data")
