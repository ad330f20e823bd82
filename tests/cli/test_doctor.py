"""The doctor before this environment, before one that lacks packages, and before imports that fail."""

import importlib.metadata
import json
import sysconfig
import venv
from pathlib import Path
from types import SimpleNamespace

import fairseq
import pytest
import torch
from programs.program import realformer_nmt

from realformer_nmt.cli import doctor

PACKAGES = Path(sysconfig.get_path("purelib"))
ENGINE = "realformer-nmt install-engine"


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
    python = tmp_path / "empty" / "bin" / "python"
    examined = realformer_nmt("doctor", "--json", python=python)
    assert "Traceback" not in examined.stderr, examined.stderr
    report = json.loads(examined.stdout)
    assert (examined.returncode, report["ok"]) == (1, False)
    wrong = {wrong["what"]: wrong["fix"] for wrong in report["wrong"]}
    assert list(wrong) == [f"{name} is not installed" for name in ("numpy", "torch", "sacrebleu")]
    assert wrong["torch is not installed"] == f"{python} -m pip install --upgrade 'torch>=2.4'"


def test_what_an_extra_brings_may_be_missing_and_fairseq_may_not(tmp_path: Path) -> None:
    """A virtual environment with links to this one's packages, less some."""
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for entry in PACKAGES.iterdir():
        if not entry.name.endswith(("sentencepiece", "sacremoses", "fairseq", "fairseq_fixed-0.12.3.1.dist-info")):
            (packages / entry.name).symlink_to(entry)
    examined = realformer_nmt("doctor", python=tmp_path / "venv" / "bin" / "python")
    assert examined.returncode == 1
    assert examined.stdout.splitlines()[-1] == f"wrong: fairseq is not installed; to fix it: {ENGINE}"
    for name in ("sentencepiece", "sacremoses"):
        assert f"{name:15} not installed: pip install 'realformer-nmt[recipes]' brings it\n" in examined.stdout


MISSING = ModuleNotFoundError("No module named 'hydra'", name="hydra")
FAILURES = {
    "hydra": ("fairseq", MISSING, "fairseq needs hydra, which is not installed", "-m pip install hydra-core"),
    "old": (
        *("fairseq", ValueError("mutable default <class 'list'>"), "this fairseq is one for Python < 3.11: ValueError"),
        f"-m pip uninstall --yes fairseq && {ENGINE}",
    ),
    "exits": ("fairseq", SystemExit("no CUDA\nhint"), "fairseq does not import: SystemExit: no CUDA", ENGINE),
    "extension": ("fairseq.data.data_utils_fast", ImportError("cut"), "fairseq has no working C++ extension", ENGINE),
    "numpy": ("numpy", ImportError("failed"), "numpy does not import: ImportError: failed", "1.26' --force-reinstall"),
    "torch": (
        "torch",
        SimpleNamespace(__version__="2.3.1+cu121"),
        "torch 2.3.1+cu121 is older than 2.4",
        "'torch>=2.4'",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_does_not_import_is_said_with_what_repairs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, outcome, what, fix = FAILURES[name]
    attempt = doctor.attempt
    monkeypatch.setattr(doctor, "attempt", lambda name: outcome if name == module else attempt(name))
    (wrong,) = [component for component in doctor.examine() if component.wrong]
    assert str(wrong.wrong).startswith(what)
    assert "hint" not in str(wrong.wrong)
    assert str(wrong.fix).endswith(fix)


def test_two_engines_over_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "fairseq-0.12.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fairseq\nVersion: 0.12.2\n")
    monkeypatch.syspath_prepend(tmp_path)
    _, _, what, fix = doctor.engine(fairseq)
    assert what == "fairseq and fairseq-fixed are installed over each other"
    assert str(fix).endswith(f"-m pip uninstall --yes fairseq fairseq-fixed && {ENGINE}")


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
