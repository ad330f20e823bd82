"""`realformer-nmt doctor`: what is installed, what is wrong, and the command that fixes it."""

import contextlib
import importlib
import importlib.metadata
import io
import json
import platform
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import ClassVar, NamedTuple

from realformer_nmt.common.extras import EXTRAS, pip_install
from realformer_nmt.common.requests.option import option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.user_dir import PACKAGE
from realformer_nmt.common.version import VERSION

INSTALL_ENGINE = "realformer-nmt install-engine"
DISTRIBUTIONS = {"hydra": "hydra-core", "sklearn": "scikit-learn", "yaml": "PyYAML"}  # pip's names of modules
OLDEST = {"torch": (2, 4), "numpy": (1, 26), "sacrebleu": (2, 4), "sentencepiece": (0, 2), "sacremoses": (0, 1)}


class Component(NamedTuple):
    """A line of the report: a component and its version, perhaps with a problem and the command that fixes it."""

    name: str
    value: str
    wrong: str | None = None
    fix: str | None = None


@dataclass(frozen=True, kw_only=True)
class DoctorRequest(Request):
    """Show what is installed and what is wrong. Exit status 0 if all is well, 1 otherwise."""

    subcommand: ClassVar[str] = "doctor"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = "example: realformer-nmt doctor"

    json: bool = option("print the same as a JSON object", False)


REQUEST = DoctorRequest


def run(request: DoctorRequest) -> int:
    findings = list(examine())
    wrong = [finding for finding in findings if finding.wrong]
    if request.json:
        report = {"ok": not wrong, "found": {f.name: f.value for f in findings}}
        print(json.dumps({**report, "wrong": [{"what": f.wrong, "fix": f.fix} for f in wrong]}, indent=2))
    else:
        print("\n".join(f"{finding.name:15} {finding.value}" for finding in findings))
        print("\n".join(f"wrong: {f.wrong}; to fix it: {f.fix}" for f in wrong) or "all is well")
    return 1 if wrong else 0


def examine() -> Iterator[Component]:
    """Yield all findings, in the order in which problems should be fixed."""
    yield Component("python", f"{platform.python_version()}, {sys.executable}")
    base = [examine_package(name) for name in ("numpy", "torch")]  # torch imports numpy
    yield from base
    broken = [finding.name for finding in base if finding.wrong]
    if broken:
        yield Component("fairseq", f"not tried without {' and '.join(broken)}")
    else:
        yield from examine_fairseq()
        yield examine_gpu()
        from realformer_nmt.kernels.native.library import state
        from realformer_nmt.kernels.precision import supported

        yield Component("decodes in", f"{', '.join(supported())} on this processor")
        yield Component("own kernels", state())
    for name in ("sacrebleu", "sentencepiece", "sacremoses"):
        yield examine_package(name)


def attempt(name: str) -> ModuleType | BaseException:
    """Return a module, or the error that its import raised; what the import prints is dropped."""
    sink = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        return error


def examine_package(name: str) -> Component:
    oldest = ".".join(map(str, OLDEST[name]))
    install = f"{sys.executable} -m pip install --upgrade '{name}>={oldest}'"
    module = attempt(name)
    if isinstance(module, ModuleNotFoundError) and module.name == name and name in EXTRAS:
        return Component(name, f"not installed: {pip_install(EXTRAS[name])} brings it")
    if isinstance(module, ModuleNotFoundError) and module.name == name:
        return Component(name, "missing", f"{name} is not installed", install)
    if isinstance(module, BaseException):
        return Component(name, "broken", f"{name} does not import: {summary(module)}", f"{install} --force-reinstall")
    version = str(getattr(module, "__version__", "of unknown version"))
    if release(version) < OLDEST[name]:
        return Component(name, version, f"{name} {version} is older than {oldest}", install)
    return Component(name, version)


def examine_fairseq() -> Iterator[Component]:
    fairseq = attempt("fairseq")
    if isinstance(fairseq, BaseException):
        wrong, fix = explain(fairseq)
        yield Component("fairseq", "unusable", wrong, fix)
        return
    yield engine(fairseq)
    extension = attempt("fairseq.data.data_utils_fast")
    if isinstance(extension, BaseException):
        wrong = f"fairseq has no working C++ extension data_utils_fast: {summary(extension)}"
        yield Component("data_utils_fast", "missing", wrong, INSTALL_ENGINE)
    else:
        yield Component("data_utils_fast", "present")
    yield examine_plugin()


def explain(error: BaseException) -> tuple[str, str]:
    """Return why fairseq cannot be imported, and the command that fixes it."""
    if isinstance(error, ModuleNotFoundError) and error.name == "fairseq":
        return "fairseq is not installed", INSTALL_ENGINE
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("fairseq."):
        package = error.name.partition(".")[0]
        install = f"{sys.executable} -m pip install {DISTRIBUTIONS.get(package, package)}"
        return f"fairseq needs {package}, which is not installed", install
    if isinstance(error, ValueError) and "mutable default" in str(error):
        reinstall = f"{sys.executable} -m pip uninstall --yes fairseq && {INSTALL_ENGINE}"
        return f"this fairseq is one for Python < 3.11: {summary(error)}", reinstall
    return f"fairseq does not import: {summary(error)}", INSTALL_ENGINE


def engine(fairseq: ModuleType) -> Component:
    """Return fairseq's component; its two distributions mix their files where both are installed."""
    versions = {}
    for name in ("fairseq-fixed", "fairseq"):  # those of other distributions may be damaged
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    unknown = f"fairseq {getattr(fairseq, '__version__', 'of unknown version')}, not installed by pip"
    value = next((f"{name} {version}" for name, version in versions.items()), unknown)
    component = Component("fairseq", f"{value}, {Path(str(fairseq.__file__)).parent}")
    if len(versions) < 2:
        return component
    fix = f"{sys.executable} -m pip uninstall --yes fairseq fairseq-fixed && {INSTALL_ENGINE}"
    return component._replace(wrong="fairseq and fairseq-fixed are installed over each other", fix=fix)


def examine_plugin() -> Component:
    model = attempt("realformer_nmt.model.models.model")
    if isinstance(model, BaseException):
        fix = f"{sys.executable} -c 'import fairseq, realformer_nmt.model.models.model' shows where"
        return Component("realformer_nmt", "broken", f"realformer_nmt does not import: {summary(model)}", fix)
    return Component("realformer_nmt", f"{VERSION}, {PACKAGE}")


def examine_gpu() -> Component:
    import torch

    build = f"torch {torch.__version__}"
    choose = "install the torch for this driver and GPU, see https://pytorch.org/get-started"
    if not torch.cuda.is_available():
        if Path("/proc/driver/nvidia/version").exists():
            return Component("GPU", "unusable", f"{build} cannot use this machine's NVIDIA driver", choose)
        return Component("GPU", "none: trains on the CPU")
    gpu = torch.cuda.get_device_properties(0)
    memory = f"{gpu.total_memory / 2**30:.0f} GiB"
    value = f"{torch.cuda.device_count()} x {gpu.name}, {memory}, capability {gpu.major}.{gpu.minor}"
    try:
        torch.ones(1, device="cuda").add(1).item()
    except RuntimeError as error:
        return Component("GPU", value, f"{build} cannot compute on the GPU: {summary(error)}", choose)
    return Component("GPU", value)


def summary(error: object) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


def release(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: (2, 13) for "2.13.0+cu130"."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
