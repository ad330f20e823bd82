"""Versions of the packages, the machine and the commit, for the records of results."""

import importlib.metadata
import os
import platform
import subprocess
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from realformer_nmt.common.files.records import Text
from realformer_nmt.common.version import VERSION

PACKAGES = ("torch", "numpy", "sacrebleu", "sentencepiece", "sacremoses")
ENGINES = ("fairseq-fixed", "fairseq")


def versions() -> dict[str, str]:
    return {"realformer_nmt": VERSION, "python": platform.python_version(), **installed(*PACKAGES, *ENGINES)}


def installed(*packages: str) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    versions_by_name = {name: _version(name) for name in packages}
    return {name: version for name, version in versions_by_name.items() if version}


@lru_cache
def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


class Machine(Struct, frozen=True, kw_only=True):
    """Machine that trains; train.json names its GPUs."""

    host: Text
    processor: Text
    cores: int | None
    memory_gib: int | float


def hardware() -> Machine:
    """Return the machine that this process runs on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Machine(host=platform.node(), processor=processor(), cores=os.cpu_count(), memory_gib=round(memory))


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").split("\n") if info.exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def commit() -> str | None:
    """Return the commit of the checkout that this package runs from, with -dirty after changes.

    None where the package is installed.
    """
    this_file = Path(__file__)
    if _git(this_file.parent, "ls-files", "--error-unmatch", this_file.name) is None:
        return None
    return _git(this_file.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.strip()
