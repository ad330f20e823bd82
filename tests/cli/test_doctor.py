"""The doctor before real environments that lack something: this one's packages, linked, less what a test takes away."""

import importlib.metadata
import json
import sys
import sysconfig
import venv
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from programs.program import realformer_nmt

from realformer_nmt.cli import doctor

PACKAGES = Path(sysconfig.get_path("purelib"))
FAIRSEQ = ("fairseq", "fairseq_fixed-0.12.3.1.dist-info")


def link(source: Path, target: Path, without: Collection[str] = ()) -> Path:
    """A folder of links to everything in `source`, less the names and endings given."""
    target.mkdir(parents=True)
    for entry in source.iterdir():
        if not entry.name.endswith(tuple(without) or "\0"):
            (target / entry.name).symlink_to(entry)
    return target


class Environment:
    """A virtual environment with links to this one's packages, less those whose names end as given."""

    def __init__(self, folder: Path, without: Collection[str]) -> None:
        venv.create(folder, symlinks=True)
        self.python = folder / "bin" / "python"
        (empty,) = (folder / "lib").glob("python*/site-packages")
        empty.rmdir()
        self.packages = link(PACKAGES, empty, without)


def write_package(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(text)
    return folder


def diagnose(python: str | Path = sys.executable, path: Collection[Path] = ()) -> list[tuple[str, str]]:
    """Return what `doctor` finds wrong, each with what repairs it."""
    examined = realformer_nmt("doctor", "--json", python=python, path=tuple(path))
    assert "Traceback" not in examined.stderr, examined.stderr
    report = json.loads(examined.stdout)
    assert examined.returncode == (1 if report["wrong"] else 0)
    assert report["ok"] == (not report["wrong"])
    return [(wrong["what"], wrong["fix"]) for wrong in report["wrong"]]


def test_a_healthy_environment() -> None:
    examined = realformer_nmt("doctor")
    assert examined.returncode == 0, examined.stdout + examined.stderr
    lines = dict(line.split(maxsplit=1) for line in examined.stdout.splitlines())
    assert lines["torch"] == torch.__version__
    for name in ("numpy", "sacrebleu", "sentencepiece", "sacremoses"):
        assert lines[name] == importlib.metadata.version(name)
    assert lines["fairseq"] == f"fairseq-fixed 0.12.3.1, {PACKAGES / 'fairseq'}"
    assert lines["data_utils_fast"] == "present"
    assert ("none" in lines["GPU"]) == (not torch.cuda.is_available())
    assert examined.stdout.splitlines()[-1] == "all is well"


def test_nothing_installed(tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", symlinks=True)
    wrong = diagnose(tmp_path / "empty" / "bin" / "python")
    names = ["numpy", "torch", "sacrebleu"]
    assert [what for what, _ in wrong] == [f"{name} is not installed" for name in names]
    assert wrong[1][1] == f"{tmp_path / 'empty' / 'bin' / 'python'} -m pip install --upgrade 'torch>=2.4'"


def test_what_an_extra_brings_may_be_missing(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv", without=["sentencepiece", "sacremoses"])
    examined = realformer_nmt("doctor", python=environment.python)
    assert (examined.returncode, examined.stdout.splitlines()[-1]) == (0, "all is well")
    for name in ("sentencepiece", "sacremoses"):
        assert f"{name:15} not installed: pip install 'realformer-nmt[recipes]' brings it\n" in examined.stdout


def test_fairseq_missing(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv", without=FAIRSEQ)
    assert diagnose(environment.python) == [("fairseq is not installed", "realformer-nmt install-engine")]


def test_a_dependency_of_fairseq_missing(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv", without=["hydra"])
    install = f"{environment.python} -m pip install hydra-core"
    assert diagnose(environment.python) == [("fairseq needs hydra, which is not installed", install)]


def test_fairseq_without_its_extensions(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv", without=FAIRSEQ)
    fairseq = link(PACKAGES / "fairseq", environment.packages / "fairseq", without=["data"])
    link(PACKAGES / "fairseq" / "data", fairseq / "data", without=[".so", ".pyd"])
    ((what, fix),) = diagnose(environment.python)
    assert "data_utils_fast" in what
    assert fix == "realformer-nmt install-engine"


def test_two_engines_over_each_other(tmp_path: Path) -> None:
    metadata = tmp_path / "fairseq-0.12.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fairseq\nVersion: 0.12.2\n")
    ((what, fix),) = diagnose(path=[tmp_path])
    assert what == "fairseq and fairseq-fixed are installed over each other"
    assert fix.endswith("-m pip uninstall --yes fairseq fairseq-fixed && realformer-nmt install-engine")


BROKEN = {
    "from dataclasses import dataclass\n@dataclass\nclass Common:\n    names: list = []": (
        "this fairseq is one for Python < 3.11: ValueError: mutable default",
        "-m pip uninstall --yes fairseq && realformer-nmt install-engine",
    ),
    "raise SystemExit('no CUDA\\nsecond line')": (
        "fairseq does not import: SystemExit: no CUDA",
        "realformer-nmt install-engine",
    ),
}


@pytest.mark.parametrize("text", BROKEN)
def test_fairseq_that_does_not_import(tmp_path: Path, text: str) -> None:
    expected_what, expected_fix = BROKEN[text]
    ((what, fix),) = diagnose(path=[write_package(tmp_path, "fairseq", text)])
    assert what.startswith(expected_what)
    assert "second line" not in what
    assert fix.endswith(expected_fix)


def test_a_broken_numpy_comes_before_fairseq(tmp_path: Path) -> None:
    text = "raise ImportError('numpy._core.multiarray failed to import')"
    what, fix = diagnose(path=[write_package(tmp_path, "numpy", text)])[0]
    assert what == "numpy does not import: ImportError: numpy._core.multiarray failed to import"
    assert fix.endswith("-m pip install --upgrade 'numpy>=1.26' --force-reinstall")


def test_a_torch_that_is_too_old(tmp_path: Path) -> None:
    what, fix = diagnose(path=[write_package(tmp_path, "torch", "__version__ = '2.3.1+cu121'")])[0]
    assert what == "torch 2.3.1+cu121 is older than 2.4"
    assert fix.endswith("'torch>=2.4'")


def a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = SimpleNamespace(name="NVIDIA H200", total_memory=140 * 2**30, major=9, minor=0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)


def test_a_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    a_gpu(monkeypatch)
    ones = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *shape, **_: ones(*shape))
    finding = doctor.examine_gpu()
    assert finding.value == "2 x NVIDIA H200, 140 GiB, capability 9.0"
    assert finding.wrong is None


def test_a_gpu_that_this_torch_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nhint")

    a_gpu(monkeypatch)
    monkeypatch.setattr(torch, "ones", fail)
    finding = doctor.examine_gpu()
    assert finding.wrong is not None
    assert finding.wrong.endswith("CUDA error: no kernel image is available for execution on the device")
    assert "https://pytorch.org" in str(finding.fix)
