"""The Makefile without its minutes."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from programs.program import REPOSITORY

from realformer_nmt.common.requests.toml_tables import read_toml

CORES = len(os.sched_getaffinity(0))
IN_PARALLEL = f"--numprocesses {min(2 * CORES, 8)} --dist worksteal"
STAND_IN = """#!/bin/bash
echo "$*" >> "$RECORD"
if [ "$2" = venv ]; then
  mkdir -p "$3/bin"
  for name in python realformer-nmt mkdocs; do cp "$0" "$3/bin/$name"; done
fi
"""


def make(target: str, folder: Path, **settings: str) -> list[str]:
    """Make a target with a stand-in for Python, and return what the stand-in was called with."""
    stand_in = folder / "python-stand-in"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    (folder / "record").unlink(missing_ok=True)
    words = {"VENV": str(folder / "venv"), "PYTHON": str(stand_in)} | settings
    outer = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "TORCH", "TORCH_INDEX")}
    subprocess.run(
        [str(shutil.which("make")), target, *(f"{name}={value}" for name, value in words.items())],
        cwd=REPOSITORY,
        env={**outer, "RECORD": str(folder / "record")},
        check=True,
        capture_output=True,
    )
    return (folder / "record").read_text().splitlines() if (folder / "record").exists() else []


def test_make_install_once(tmp_path: Path) -> None:
    venv, first, packages, torch, plugin, built, checked = make("install", tmp_path)
    assert venv == f"-m venv {tmp_path / 'venv'}"
    for hashed in (first, packages):
        assert "--require-hashes --no-deps" in hashed
    assert packages.endswith("--requirement constraints.txt")
    assert torch.endswith(" torch==2.13.0")
    assert plugin.endswith("--no-deps --no-build-isolation --editable .")
    assert built == "install-engine"
    assert checked == "-m pip check"
    assert make("install", tmp_path) == []
    assert re.fullmatch(
        r"(?s)setuptools==.*?(--hash=\S+\s+(\\\s+)?)+", (tmp_path / "venv" / "setuptools.txt").read_text()
    )


def test_make_install_again_for_another_torch_which_then_stays(tmp_path: Path) -> None:
    make("install", tmp_path)
    other = {"TORCH": "torch==2.11.0", "TORCH_INDEX": "https://example.org/cpu"}
    venv, _, _, packages, *_ = make("install", tmp_path, **other)
    assert venv == f"-m venv {tmp_path / 'venv'}"
    assert "--extra-index-url https://example.org/cpu" in packages
    assert packages.endswith(" torch==2.11.0")
    assert make("install", tmp_path) == []


def test_make_test_installs_and_runs_the_suite(tmp_path: Path) -> None:
    *installing, building, testing = make("test", tmp_path)
    assert len(installing) == 7 + 2  # the website's own environment
    assert building == "build --quiet --config-file tools/website/mkdocs.yml"
    assert testing == f"-m pytest {IN_PARALLEL} --durations=20 --durations-min=1"
    assert make("test", tmp_path) == [building, testing]


def test_make_unit_runs_folders_that_are_there(tmp_path: Path) -> None:
    *_, testing, reporting = make("unit", tmp_path)
    folders = testing.removeprefix(f"-m pytest {IN_PARALLEL} --cov --cov-report= ").split()
    assert len(folders) > 3
    assert all(list((REPOSITORY / folder).glob("test_*.py")) for folder in folders)
    assert reporting == "-m coverage report --format=total"
    measured = read_toml(REPOSITORY / "pyproject.toml", "")["tool"]["coverage"]["run"]["source"]
    assert [folder.replace("tests", "realformer_nmt") for folder in folders] == measured


def test_make_alone_lists_the_targets(tmp_path: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    done = subprocess.run(
        [str(shutil.which("make")), f"VENV={tmp_path}"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    listed = re.findall(r"^make ([a-z-]+) +\S", done.stdout, re.MULTILINE)
    assert {*listed, "help", "anew"} == set(phony.replace("\\", "").split())
    assert not list(tmp_path.iterdir())  # it lists, and installs nothing
    assert all(len(line) < 110 for line in done.stdout.splitlines())


def test_make_newest_runs_the_commands_on_any_torch_in_another_environment(tmp_path: Path) -> None:
    newest = tmp_path / "newest"
    *installing, testing, stock = make("newest", tmp_path, NEWEST=str(newest))
    assert installing[0] == f"-m venv {newest}"
    assert installing[3].split()[-1] == "torch"
    assert not (tmp_path / "venv").exists()
    places = testing.removeprefix(f"-m pytest {IN_PARALLEL} ").split()
    assert len(places) > 3
    assert all((REPOSITORY / place).exists() for place in places)
    assert stock.endswith(" -m stock tests/fairseq_patches")
