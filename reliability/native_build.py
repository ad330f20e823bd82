"""The kernels in C, built with gcc's sanitisers of addresses and of undefined behaviour, in a folder of their own."""

import os
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from realformer_nmt.common.errors import UserError
from reliability.trainings import REPOSITORY

SOURCES = REPOSITORY / "realformer_nmt" / "kernels" / "native"
EMULATED = REPOSITORY / "reliability" / "emulated"  # its files stand in for the compiler's and the kernels' own
SANITISERS = "-fsanitize=address,undefined"
FLAGS = ("-g", "-O1", "-fPIC", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-Wall", "-Werror")
KNOWN_WARNINGS = ("-Wno-psabi", "-Wno-attributes")  # vectors that are passed in memory, and attributes left out
OPTIONS = {  # Python leaves memory to the system as it ends; no call may take more than this of it
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=512:symbolize=0",
    "UBSAN_OPTIONS": "symbolize=0",
}


def sanitiser() -> Path | None:
    """Return gcc's runtime of its sanitiser of addresses, which has to be loaded before Python."""
    if shutil.which("gcc") is None:
        return None
    path = Path(_run(["gcc", "-print-file-name=libasan.so"]).strip())
    return path.resolve() if path.is_absolute() and path.exists() else None


def build(folder: Path, sources: Path = SOURCES) -> Path:
    """Return the module that is built in `folder`."""
    if sanitiser() is None:
        raise UserError("the sanitised build needs gcc and its libasan: install gcc")
    folder.mkdir(parents=True, exist_ok=True)
    replaced = {path.name for path in EMULATED.iterdir()}
    files = [path for path in sorted(sources.glob("*.c")) if path.name not in replaced]
    files += sorted(EMULATED.glob("*.c"))
    headers = [f"-I{path}" for path in (EMULATED, sources, sysconfig.get_paths()["include"])]

    def compile_one(source: Path) -> str:
        target = str(folder / f"{source.stem}.o")
        _run(["gcc", SANITISERS, *FLAGS, *KNOWN_WARNINGS, *headers, "-c", str(source), "-o", target])
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, files))
    module = folder / "_kernels.so"
    _run(["gcc", SANITISERS, "-shared", *objects, "-o", str(module), "-ldl", "-lm"])
    return module


def environment() -> dict[str, str]:
    """Return the environment of a Python that imports the module."""
    return {**os.environ, **OPTIONS, "LD_PRELOAD": f"{sanitiser()} libstdc++.so.6", "OMP_NUM_THREADS": "1"}


def _run(command: list[str]) -> str:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise UserError(f"{' '.join(command[:1])} ended with {finished.returncode}:\n{finished.stderr[-2000:]}")
    return finished.stdout
