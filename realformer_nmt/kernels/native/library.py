"""Finds the kernels. Without them torch's operations compute the same."""

import functools
import importlib
import os
from typing import Any

import torch
from torch import Tensor

from realformer_nmt.kernels.processor import instructions

HIDDEN = "REALFORMER_NMT_NATIVE"  # 0 in the environment: they are not looked at
VERSION = 5  # of what the kernels take; a module that was built of older sources is left alone


@functools.cache
def built() -> Any | None:
    """The module, if there is one."""
    try:
        module = importlib.import_module("realformer_nmt.kernels.native._kernels")
    except ImportError:
        return None
    return module if getattr(module, "version", 0) == VERSION else None


def library() -> Any | None:
    """The module, if it is to be used here."""
    module = built()
    return module if module is not None and module.able and os.environ.get(HIDDEN) != "0" else None


def takes(x: Tensor) -> bool:
    """Whether a training's kernels are there for numbers such as these."""
    known = x.dtype is torch.float32 or (x.dtype is torch.bfloat16 and "avx512_bf16" in instructions())
    return known and readable(x) and library() is not None


def readable(x: Tensor) -> bool:
    """Whether the numbers of a tensor are in memory as they are: a subclass may have none."""
    return x.is_cpu and type(x) is Tensor and x.layout is torch.strided and not x.is_neg()


def kernels() -> Any:
    """Return the module, or raise where there is none for this processor."""
    module = built()
    if module is None or not module.able:
        raise RuntimeError(f"there are no kernels here to call: {state()}")
    return module


def state() -> str:
    """For a user."""
    module = built()
    if os.environ.get(HIDDEN) == "0":
        return f"hidden by {HIDDEN}=0"
    if module is None:
        return "none of these sources: torch's operations compute everything; pip builds them by a C compiler"
    return "built" if module.able else "built, unused: this processor has no avx512_vnni"
