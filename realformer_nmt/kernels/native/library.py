"""The kernels, and the processor that they are for; without them torch's operations compute the same."""

import functools
import importlib
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

HIDDEN = "REALFORMER_NMT_NATIVE"  # 0 in the environment: kernels are not used
VERSION = 5  # of the kernels' arguments; a module built from older sources is ignored


@functools.cache
def instructions() -> frozenset[str]:
    """Return the words of /proc/cpuinfo, which name instructions and maker; none if the system is not Linux."""
    processors = Path("/proc/cpuinfo")
    return frozenset(processors.read_text("utf-8").split() if processors.exists() else ())


@functools.cache
def built() -> Any:
    """Return the module of kernels; None if it is not built."""
    try:
        module = importlib.import_module("realformer_nmt.kernels.native._kernels")
    except ImportError:
        return None
    return module if getattr(module, "version", 0) == VERSION else None


def library() -> Any | None:
    """Return the module of kernels, if it is built, able and not hidden."""
    module = built()
    return module if module is not None and module.able and os.environ.get(HIDDEN) != "0" else None


def takes(x: Tensor) -> bool:
    """Tell whether the kernels for training can be used for a tensor."""
    has_kernel = x.dtype is torch.float32 or (x.dtype is torch.bfloat16 and "avx512_bf16" in instructions())
    return has_kernel and readable(x) and library() is not None


def readable(x: Tensor) -> bool:
    """Tell whether C can read a tensor's numbers from memory; that of a subclass may have none."""
    return x.is_cpu and type(x) is Tensor and x.layout is torch.strided and not x.is_neg()


def in_large_pages(room: Tensor) -> Tensor:
    """Put a tensor that is still empty in larger pages of memory, for reading at random, and return it."""
    built().enlarge(room=room)
    return room


def state() -> str:
    """Return the state of the kernels, in words for the user."""
    module = built()
    if os.environ.get(HIDDEN) == "0":
        return f"hidden by {HIDDEN}=0"
    if module is None:
        return "not built from these sources, so torch's operations are used; reinstall with a C compiler"
    return "built" if module.able else "built, unused: this processor has no avx512_vnni"
