"""`realformer-nmt install-engine`: build and install the fairseq that the tests run with.

fairseq-fixed is fairseq's main branch, repaired for Python >= 3.11. Its sdist requires torch to build, a CUDA compiler
wherever CUDA_HOME is set, and torchaudio to run. Translation needs none of these. So the sdist is downloaded, checked
against its hash, stripped of these requirements, and built with three small C++ extensions. torch is not touched.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.request import Request

NAME, VERSION = "fairseq-fixed", "0.12.3.1"
SDIST = f"fairseq_fixed-{VERSION}.tar.gz"
SHA256 = "c607577a54ab30e2ee0f0b0a754ea5cdbc6ad0a9f99a1726638a2201445bc1cc"
BUILD_TOOLS = ("setuptools==84.2.1", "wheel==0.48.0", "Cython==3.3.1", "numpy>=2,<3")  # built with 2, runs with 1.26
TORCH_IMPORT = "from torch.utils import cpp_extension\n"
UNUSED_DEPENDENCIES = ("cffi", "cython", "torchaudio>=0.8.0")
TORCH_STAND_IN = """
from setuptools import Extension as CppExtension
from setuptools.command.build_ext import build_ext as BuildExtension
"""


@dataclass(frozen=True, kw_only=True)
class InstallEngineRequest(Request):
    """Build the tested fairseq and install it into this Python's environment, without its dependencies."""

    subcommand: ClassVar[str] = "install-engine"
    examples: ClassVar[str] = "example: realformer-nmt install-engine"

    def run(self) -> int:
        _need_compiler()
        print(f"building {NAME} {VERSION}, which takes one to three minutes", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            install(Path(folder))
        print(f"{NAME} {VERSION} is installed; `realformer-nmt doctor` checks it")
        return 0


REQUEST = InstallEngineRequest


def install(work: Path) -> None:
    """Download the sdist to the folder `work`, build it there and install it."""
    environment = _build_environment(work / "tools")
    shutil.unpack_archive(_download(work, environment), work)
    source = work / SDIST.removesuffix(".tar.gz")
    setup = source / "setup.py"
    setup.write_text(slim(setup.read_text(encoding="utf-8")), encoding="utf-8")
    options = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", str(work))
    _pip("wheel", *options, str(source), environment=environment)
    # by name and not by file, so that `pip freeze` shows a version and not the temporary folder
    from_work = ("--no-index", "--find-links", str(work), "--only-binary", NAME)
    _pip("install", "--no-deps", "--force-reinstall", *from_work, f"{NAME}=={VERSION}", environment=os.environ)


def slim(setup: str) -> str:
    """Return fairseq's setup.py without the extensions that need torch and the dependencies that nothing imports."""
    before, _, rest = setup.partition("extensions.extend(\n")
    _, end, after = rest.partition('if "READTHEDOCS" in os.environ:\n')
    slimmed = f"{before}cmdclass = {{}}\n\n{end}{after}"
    for line in (TORCH_IMPORT, *(f'            "{name}",\n' for name in UNUSED_DEPENDENCIES)):
        slimmed = slimmed.replace(line, "")
    return slimmed


def _need_compiler() -> None:
    compilers = [os.environ["CXX"].split()[0]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]
    if not any(map(shutil.which, compilers)):
        raise UserError(f"no C++ compiler ({', '.join(compilers)}) on PATH; on Debian or Ubuntu: apt-get install g++")
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.exists():
        raise UserError(f"Python's C header {header} is missing; on Debian or Ubuntu: apt-get install python3-dev")


def _build_environment(tools: Path) -> dict[str, str]:
    """Install the build tools into a folder, away from the user's environment; return the variables to use them."""
    _pip("install", "--target", str(tools), *BUILD_TOOLS, environment=os.environ)
    torch = tools / "torch" / "utils"  # pip runs the sdist's setup.py, which imports torch, for its metadata
    torch.mkdir(parents=True)
    for package in (torch.parent, torch):
        (package / "__init__.py").touch()
    (torch / "cpp_extension.py").write_text(TORCH_STAND_IN, encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if name not in ("CUDA_HOME", "READTHEDOCS")}
    return {**variables, "PYTHONPATH": str(tools)}


def _download(folder: Path, environment: Mapping[str, str]) -> Path:
    """Download the sdist with pip, which knows the user's index and proxy and checks the hash before it unpacks."""
    requirement = folder / "engine.txt"
    requirement.write_text(f"{NAME}=={VERSION} --hash=sha256:{SHA256}\n", encoding="utf-8")
    options = ("--no-deps", "--no-build-isolation", "--no-binary", NAME, "--dest", str(folder))
    _pip("download", *options, "--requirement", str(requirement), environment=environment)
    return folder / SDIST


def _pip(*arguments: str, environment: Mapping[str, str]) -> None:
    command: Sequence[str] = (sys.executable, "-m", "pip", *arguments)
    if subprocess.run(command, env=environment, check=False).returncode:
        raise UserError(f"this command failed, its output is above: {' '.join(command)}")
