"""The notebooks, one of them cell after cell: a program of its own for each %%bash, one namespace for Python."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from code import InteractiveInterpreter
from pathlib import Path
from typing import Any

import pytest
import torch
from programs.program import REPOSITORY
from recipe_scripts.recipe_runs import environment

NOTEBOOK = REPOSITORY / "recipes" / "quickstart" / "quickstart.ipynb"
GPU_NOTEBOOK = REPOSITORY / "recipes" / "gpu" / "gpu.ipynb"
SCRIPT = "%%bash\n"


def cells_of(notebook: Path) -> dict[str, dict[str, Any]]:
    return {cell["id"]: cell for cell in json.loads(notebook.read_text())["cells"]}


@pytest.fixture(scope="module")
def cells() -> dict[str, dict[str, Any]]:
    return cells_of(NOTEBOOK)


def sources(cells: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: "".join(cell["source"]) for name, cell in cells.items() if cell["cell_type"] == "code"}


@pytest.mark.parametrize("notebook", [NOTEBOOK, GPU_NOTEBOOK], ids=lambda path: path.stem)
def test_no_output_is_kept(notebook: Path) -> None:
    ran = [cell for cell in cells_of(notebook).values() if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in ran] == [([], None)] * len(ran)


def test_it_installs_this_checkout_and_its_engine(cells: dict[str, dict[str, Any]]) -> None:
    """The command that installs the engine is README's."""
    package, engine = sources(cells)["install"].splitlines()
    place = re.fullmatch(r"%pip install --quiet (\S+)\[all\]", package)
    assert place
    assert (NOTEBOOK.parent / place[1]).resolve() == REPOSITORY
    assert engine.removeprefix("!") in (REPOSITORY / "README.md").read_text().splitlines()


def test_a_gpu_is_measured_by_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = sources(cells_of(GPU_NOTEBOOK))
    tests = (REPOSITORY / "Makefile").read_text().partition("\ntest-gpu:")[2].partition("\n\n")[0]
    assert code["test"].partition("pytest ")[2] in tests
    _, script, *options = shlex.split(code["measure"])
    monkeypatch.chdir(tmp_path)
    Path("replayed.json").write_text("the record")
    monkeypatch.setattr(sys, "argv", [script, *options])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert runpy.run_path(str(REPOSITORY / script))["main"]() == 1  # it knows the options, and there is no GPU
    InteractiveInterpreter().runsource(code["record"], symbol="exec")
    assert capsys.readouterr().out == "the record\n"


@pytest.mark.parametrize("updates", [250, pytest.param(600, marks=pytest.mark.product)])
def test_every_other_cell_runs_and_two_architectures_are_compared(
    updates: int,
    cells: dict[str, dict[str, Any]],
    program_path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The notebook's 600 updates translate a sentence right; fewer show that the cells run."""
    for name in ("corpus.py", "grammar"):
        (tmp_path / name).symlink_to(NOTEBOOK.parent / name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    python = InteractiveInterpreter(names)  # which prints an error
    for name, text in sources(cells).items():
        if text.startswith(SCRIPT):
            run_script(text.removeprefix(SCRIPT).replace("updates = 600", f"updates = {updates}"), program_path)
        elif name != "install":
            assert not python.runsource(text, name, "exec"), "an unfinished line"
    shown = capsys.readouterr().out
    by_family = {cell["family"]: cell for cell in json.loads(Path("tiny/results.json").read_text())["cells"]}
    assert by_family.keys() == {"pre_ln", "realformer"}
    for family, cell in by_family.items():
        assert f"{cell['scores']['bleu']['score']:.2f}" in re.findall(rf"^\| {family} .*", shown, re.MULTILINE)[0]
    assert Path("tiny/report.html").stat().st_size
    assert (shown.splitlines()[-1] == "Eine Frau schl\u00e4ft im Garten.") == (updates == 600)


def run_script(text: str, program_path: str) -> None:
    words = ["bash", "-euo", "pipefail", "-c", text]
    notebook = environment(PATH=program_path, FORCE_COLOR="1")  # as Jupyter sets it
    done = subprocess.run(words, env=notebook, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "\x1b" not in done.stdout + done.stderr
