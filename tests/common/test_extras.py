"""A command whose extra is missing names it in one line, and what needs no extra runs without any."""

import subprocess
import sys
from pathlib import Path

import pytest
from programs.program import REPOSITORY

import realformer_nmt
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.extras import EXTRAS
from realformer_nmt.common.requests.toml_tables import read_toml

# Run by Python before the command: none of these modules is found
BLOCKED = """
import sys

from importlib.machinery import PathFinder

find_spec = PathFinder.find_spec

def find(name, path=None, target=None):
    return None if name.partition(".")[0] in {modules!r} else find_spec(name, path, target)

PathFinder.find_spec = find
from realformer_nmt.cli import main
sys.exit(main(sys.argv[1:]))
"""


TEXTS = ["--source", "en", "--target", "de", "--workers", "1"]
TEXTS += [word for split in ("train", "valid", "test") for word in (f"--{split}", "text.en", "text.de")]


TRAIN = ["--data", "data-bin", "--folder", "run", "--arch", "admin", "--layers", "2"]


def run(modules: list[str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    for language in ("en", "de"):
        (folder / f"text.{language}").write_text("a b c\n" * 9)
    (folder / "blocked.py").write_text(BLOCKED.format(modules=modules))
    environment = {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "blocked.py", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("module", "advice", "words"),
    [
        ("matplotlib", "pip install 'realformer-nmt[analyse]'", ["analyse", "run", "--output", "analysis"]),
        ("sacremoses", "pip install 'realformer-nmt[recipes]'", ["run", "wmt14_en_de", "--layers", "6"]),
        ("sentencepiece", "pip install 'realformer-nmt[recipes]'", ["prepare", *TEXTS, "--folder", "data"]),
        ("fastapi", "pip install 'realformer-nmt[serve]'", ["serve", "run"]),
        ("fairseq", "run `realformer-nmt install-engine`", ["train", *TRAIN]),
    ],
)
def test_what_is_missing_is_named_in_one_line_before_the_work(
    module: str, advice: str, words: list[str], tmp_path: Path
) -> None:
    done = run([module], tmp_path, *words)
    assert (done.returncode, done.stderr) == (1, f"realformer-nmt: {words[0]} needs {module}: {advice}\n")
    assert not (tmp_path / "data").exists()


def test_what_trains_and_looks_at_checkpoints_needs_no_extra(tmp_path: Path) -> None:
    for words in (["archs"], ["protocol", "realformer"], ["inspect", "--help"], ["train", "--help"]):
        done = run([*EXTRAS], tmp_path, *words)
        assert done.returncode == 0, done.stderr


def test_each_extra_brings_the_modules_that_it_is_named_for() -> None:
    extras = read_toml(REPOSITORY / "pyproject.toml", "")["project"]["optional-dependencies"]
    assert {*EXTRAS.values()} <= extras.keys()
    for module, extra in EXTRAS.items():
        names = [name.replace("-", "_").lower() for name in extras[extra]]
        brought = {"fastapi": ("pydantic", "starlette"), "uvicorn": ("h11",), "onnx": ("onnxscript",)}
        assert any(name.startswith(module) or module in brought.get(name.split(">")[0], ()) for name in names), module


def test_a_function_of_python_names_the_extra_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(UserError, match=r"^compare needs rich: pip install 'realformer-nmt\[compare\]'$"):
        realformer_nmt.compare("absent.toml", folder="runs")
