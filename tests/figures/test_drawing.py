"""Figures are of the package's own style, whatever the current folder says."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from programs.program import REPOSITORY

from realformer_nmt.figures.drawing import Drawing, styled


@styled()
def drawn() -> Drawing:
    drawing = Drawing("a figure", 3.0, 2.0, {"left": 0.2})
    axes = drawing.figure.subplots()
    axes.plot([1, 2], [3, 4], label="a_b $x$")
    axes.set_title("a_b $x$")
    return drawing


@pytest.mark.parametrize("settings", [{"text.usetex": True}, {"axes.titlesize": 30, "savefig.pad_inches": 2}])
def test_settings_of_another_program_change_nothing(settings: dict[str, object]) -> None:
    plain = drawn()
    with matplotlib.rc_context(settings):
        other = drawn()
        assert other.file_svg() == plain.file_svg()
        assert other.png() == plain.png()


@pytest.mark.parametrize("kind", ["a pipe", "text.usetex: True", "no: setting\n" * 3])
def test_a_matplotlibrc_of_the_current_folder_is_not_opened(kind: str, tmp_path: Path) -> None:
    """matplotlib reads one when it is imported: a pipe is waited for, text.usetex starts latex."""
    file = tmp_path / "matplotlibrc"
    os.mkfifo(file) if kind == "a pipe" else file.write_text(kind)
    program = (
        "import os, realformer_nmt.figures.drawing, matplotlib; print(os.getcwd(), matplotlib.rcParams['text.usetex'])"
    )
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": str(REPOSITORY)}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{tmp_path} False\n", "")


def test_no_other_room_imports_matplotlib() -> None:
    """It would be imported where the current folder is still the user's."""
    for file in (REPOSITORY / "realformer_nmt").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())) if file.parent.name != "figures" else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "matplotlib" for name in names), file
