"""The installer of the engine without its network, and the engine that it installed."""

import importlib.metadata
import json
import runpy
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from programs.program import REPOSITORY, realformer_nmt

from realformer_nmt.cli import engine

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
setup = Path(sys.argv[-1], "setup.py")
call = {"words": sys.argv[1:], "environment": dict(os.environ), "setup": setup.read_text() if setup.exists() else None}
with open(os.environ["RECORD"], "a") as record:
    record.write(json.dumps(call) + "\\n")
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


def test_what_pip_is_asked_for(
    sdist: Path, record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "_download", lambda *_: sdist)
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    monkeypatch.setenv("READTHEDOCS", "1")
    assert engine.InstallEngineRequest().run() == 0
    before, after = capsys.readouterr().out.splitlines()
    assert before.startswith("building fairseq-fixed 0.12.3.1, ")
    assert after.startswith("fairseq-fixed 0.12.3.1 is installed; ")
    tools, build, install = map(json.loads, record.read_text().splitlines())
    assert "--quiet" not in [*tools["words"], *build["words"], *install["words"]]
    assert "--target" in tools["words"]  # the build tools stay out of the environment
    assert not [word for call in (tools, build, install) for word in call["words"] if word.startswith("torch")]
    assert {"--no-deps", "--no-build-isolation", "--no-cache-dir"} <= set(build["words"])
    assert not {"CUDA_HOME", "READTHEDOCS"} & set(build["environment"])
    assert "torch.utils" not in build["setup"]
    assert {"--no-deps", "--no-index", "fairseq-fixed==0.12.3.1"} <= set(install["words"])


def test_the_slim_setup_builds_the_small_extensions_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, list] = {}
    monkeypatch.setattr("setuptools.setup", lambda **words: arguments.update(words))
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    (tmp_path / "setup.py").write_text(engine.slim(SETUP))
    runpy.run_path(str(tmp_path / "setup.py"))
    assert [extension.name for extension in arguments["ext_modules"]] == ["small"]
    assert arguments["install_requires"] == ["torch>=1.13"]


def test_a_machine_without_a_compiler_is_reported(tmp_path: Path) -> None:
    refused = realformer_nmt("install-engine", PATH=str(tmp_path))
    assert refused.returncode == 1
    assert "no C++ compiler (c++, g++, clang++) on PATH; on Debian or Ubuntu: apt-get install g++" in refused.stderr


def test_the_installed_engine_is_the_slim_one() -> None:
    files = [str(file) for file in importlib.metadata.files("fairseq-fixed") or ()]
    extensions = {Path(file).name.partition(".")[0] for file in files if file.endswith((".so", ".pyd"))}
    assert extensions == {"libbleu", "data_utils_fast", "token_block_utils_fast"}
    asked_for = {Requirement(line).name for line in importlib.metadata.requires("fairseq-fixed") or ()}
    assert not {"torchaudio", "cffi", "cython"} & asked_for


def test_every_file_of_the_package_is_installed(tmp_path: Path) -> None:
    command = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path / "lib")]
    egg = ["egg_info", "--egg-base", str(tmp_path)]
    subprocess.run([*command, *egg], cwd=REPOSITORY, check=True, capture_output=True)
    for file in (REPOSITORY / "realformer_nmt").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".so":  # which build_ext makes
            assert (tmp_path / "lib" / file.relative_to(REPOSITORY)).exists(), f"setup.py leaves out {file}"
