"""With which versions, and from which commit, a result was made."""

import importlib.metadata
import os
import platform
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

from realformer_nmt import __version__

PACKAGES = ("torch", "numpy", "sacrebleu", "sentencepiece", "sacremoses")
ENGINES = ("fairseq-fixed", "fairseq")


def versions() -> dict[str, str]:
    installed = {name: _version(name) for name in (*PACKAGES, *ENGINES)}
    found = {name: version for name, version in installed.items() if version}
    return {"realformer_nmt": __version__, "python": platform.python_version(), **found}


@lru_cache
def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def hardware() -> dict[str, Any]:
    """The machine, but for its GPUs, which train.json names."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"host": platform.node(), "processor": processor(), "cores": os.cpu_count(), "memory_gib": round(memory)}


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").split("\n") if info.exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def commit() -> str | None:
    """Of the checkout that this package runs from, with -dirty after changes; None where it is installed."""
    this = Path(__file__)
    if _git(this.parent, "ls-files", "--error-unmatch", this.name) is None:
        return None
    return _git(this.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.strip()
