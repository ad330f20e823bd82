"""The installer of the engine without its network, the Makefile without its minutes, and the requirements."""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from program import REPOSITORY, realformer_nmt

from realformer_nmt import engine
from realformer_nmt.errors import UserError

SETUP = """
import os
from setuptools import Extension, setup
from torch.utils import cpp_extension

extensions = [Extension("small", ["small.cpp"])]
extensions.extend(
    [cpp_extension.CppExtension("large", ["large.cpp"])]
)
if "CUDA_HOME" in os.environ:
    extensions.extend([cpp_extension.CppExtension("cuda", ["cuda.cu"])])
cmdclass = {"build_ext": cpp_extension.BuildExtension}
if "READTHEDOCS" in os.environ:
    extensions = []
setup(
        install_requires=[
            "cffi",
            "cython",
            "torch>=1.13",
            "torchaudio>=0.8.0",
        ],
        ext_modules=extensions,
        cmdclass=cmdclass,
)
"""
RECORD = """
import json, os, shutil, sys
from pathlib import Path
if "--target" in sys.argv:
    shutil.copytree(Path(__file__).parent, Path(sys.argv[sys.argv.index("--target") + 1], "pip"))
setup = Path(sys.argv[-2], "setup.py")
call = {"words": sys.argv[1:], "environment": dict(os.environ), "setup": setup.read_text() if setup.exists() else None}
with open(os.environ["RECORD"], "a") as record:
    record.write(json.dumps(call) + "\\n")
"""
STAND_IN = """#!/bin/bash
echo "$*" >> "$RECORD"
if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/realformer-nmt"; fi
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Calls of pip, which a stand-in notes down instead."""
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(RECORD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    return tmp_path / "record"


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    """Shaped as fairseq's, but not fairseq's."""
    folder = tmp_path / engine.SDIST.removesuffix(".tar.gz")
    folder.mkdir()
    (folder / "setup.py").write_text(SETUP)
    with tarfile.open(tmp_path / engine.SDIST, "w:gz") as archive:
        archive.add(folder, folder.name)
    return tmp_path / engine.SDIST


def test_another_file_is_refused_before_pip_is_called(sdist: Path, record: Path) -> None:
    refused = realformer_nmt("install-engine", "--sdist", sdist, path=[record.parent])
    found = hashlib.sha256(sdist.read_bytes()).hexdigest()
    assert refused.returncode == 1
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("realformer-nmt: ")]
    assert str(sdist) in line
    assert f"expected c607577a54ab30e2ee0f0b0a754ea5cdbc6ad0a9f99a1726638a2201445bc1cc, found {found}" in line
    assert "nothing was installed" in line
    assert not record.exists()


def test_what_pip_is_asked_for(sdist: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SHA256", hashlib.sha256(sdist.read_bytes()).hexdigest())
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    monkeypatch.setenv("READTHEDOCS", "1")
    assert engine.run(argparse.Namespace(sdist=sdist)) == 0
    tools, build, install = map(json.loads, record.read_text().splitlines())
    assert "--target" in tools["words"]  # the build tools stay out of the environment
    assert not [word for call in (tools, build, install) for word in call["words"] if word.startswith("torch")]
    assert {"--no-deps", "--no-build-isolation", "--no-cache-dir"} <= set(build["words"])
    assert not {"CUDA_HOME", "READTHEDOCS"} & set(build["environment"])
    assert "torch.utils" not in build["setup"]
    assert {"--no-deps", "--no-index", "fairseq-fixed==0.12.3.1"} <= set(install["words"])


def test_the_slim_setup_builds_the_small_extensions_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, list] = {}
    monkeypatch.setattr("setuptools.setup", lambda **words: given.update(words))
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    (tmp_path / "setup.py").write_text(engine.slim(SETUP))
    runpy.run_path(str(tmp_path / "setup.py"))
    assert [extension.name for extension in given["ext_modules"]] == ["small"]
    assert given["install_requires"] == ["torch>=1.13"]


@pytest.mark.parametrize(
    "lost", ["extensions.extend(\n", 'if "READTHEDOCS"', "from torch.utils", '"torchaudio>=0.8.0"', '"cffi"']
)
def test_a_setup_that_is_not_the_expected_one_is_refused(lost: str) -> None:
    with pytest.raises(UserError, match=r"fairseq_fixed-0\.12\.3\.1\.tar\.gz is not the expected one"):
        engine.slim(SETUP.replace(lost, "other"))


def test_a_machine_without_a_compiler_is_told(tmp_path: Path) -> None:
    refused = realformer_nmt("install-engine", PATH=str(tmp_path))
    assert refused.returncode == 1
    assert "no C++ compiler (c++, g++, clang++) on PATH; on Debian or Ubuntu: apt-get install g++" in refused.stderr


def test_the_installed_engine_is_the_slim_one() -> None:
    files = [str(file) for file in importlib.metadata.files("fairseq-fixed") or ()]
    extensions = {Path(file).name.partition(".")[0] for file in files if file.endswith((".so", ".pyd"))}
    assert extensions == {"libbleu", "data_utils_fast", "token_block_utils_fast"}
    asked_for = {Requirement(line).name for line in importlib.metadata.requires("fairseq-fixed") or ()}
    assert not {"torchaudio", "cffi", "cython"} & asked_for


@pytest.fixture(scope="module")
def requirements(tmp_path_factory: pytest.TempPathFactory) -> list[Requirement]:
    """Everything setup.py asks for, the developer's tools too."""
    folder = tmp_path_factory.mktemp("egg")
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    lines = (folder / "realformer_nmt.egg-info" / "requires.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("[")]


def test_pip_can_never_fetch_an_engine_by_itself(requirements: list[Requirement]) -> None:
    names = {requirement.name for requirement in requirements}
    assert "torch" in names
    assert not [name for name in names if "fairseq" in name or "torchaudio" in name]


def test_what_ci_tested_is_pinned_within_the_ranges(requirements: list[Requirement]) -> None:
    pinned = defaultdict(list)
    for pin in pins():
        pinned[canonicalize_name(pin.name)].append(pin)
    torch = re.search(r"^PINNED := (\S+)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert torch
    pinned["torch"].append(Requirement(torch[1]))
    for requirement in requirements:
        for pin in pinned[canonicalize_name(requirement.name)]:  # one for Python 3.10, perhaps
            (exact,) = pin.specifier
            assert exact.operator == "=="
            assert exact.version in requirement.specifier
    assert {canonicalize_name(requirement.name) for requirement in requirements} <= pinned.keys()


def pins() -> list[Requirement]:
    lines = (REPOSITORY / "constraints.txt").read_text().splitlines()
    return [Requirement(line.removesuffix("\\")) for line in lines if "==" in line and not line.startswith("#")]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_every_package_is_pinned_once_for_each_python_and_by_hash(python: str) -> None:
    chosen = [
        pin.name for pin in pins() if not pin.marker or pin.marker.evaluate({"python_full_version": f"{python}.0"})
    ]
    assert len(chosen) == len(set(chosen)) > 60
    text = (REPOSITORY / "constraints.txt").read_text()
    assert len(re.findall(r"^\S+==.* \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)) == len(pins())


def test_the_licence_of_every_package_is_listed() -> None:
    listed = re.findall(r"^\| (\S+) \| (.+) \|$", (REPOSITORY / "docs" / "licences.md").read_text(), re.MULTILINE)
    licences = dict(listed[1:])  # without the heading
    assert not [name for name, licence in licences.items() if licence == "not said"]
    assert {canonicalize_name(pin.name) for pin in pins()} | {"torch", "fairseq-fixed"} == licences.keys()


def test_what_the_engine_asks_for_is_what_setup_asks_for(requirements: list[Requirement]) -> None:
    names = {requirement.name for requirement in requirements}
    asked_for = [Requirement(line) for line in importlib.metadata.requires("fairseq-fixed") or ()]
    assert {requirement.name for requirement in asked_for if not requirement.marker} <= names


def test_every_file_of_the_package_is_installed(tmp_path: Path) -> None:
    command = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path / "lib")]
    egg = ["egg_info", "--egg-base", str(tmp_path)]
    subprocess.run([*command, *egg], cwd=REPOSITORY, check=True, capture_output=True)
    for file in (REPOSITORY / "realformer_nmt").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert (tmp_path / "lib" / file.relative_to(REPOSITORY)).exists(), f"setup.py leaves out {file}"


def make(target: str, folder: Path, **settings: str) -> list[str]:
    """What a stand-in for Python was called with, on the way to the target."""
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
    venv, first, packages, torch, own, built, checked = make("install", tmp_path)
    assert venv == f"-m venv {tmp_path / 'venv'}"
    for hashed in (first, packages):
        assert "--require-hashes --no-deps" in hashed
    assert packages.endswith("--requirement constraints.txt")
    assert torch.endswith(" torch==2.13.0")
    assert own.endswith("--no-deps --no-build-isolation --editable .")
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
    *installing, testing = make("test", tmp_path)
    assert len(installing) == 7
    assert testing == "-m pytest --numprocesses auto --dist worksteal"
    assert make("test", tmp_path) == [testing]
