"""Finds the kernels. Without them torch's operations compute the same."""

import functools
import importlib
import os
from typing import Any

import torch
from torch import Tensor

from realformer_nmt.kernels.processor import instructions

HIDDEN = "REALFORMER_NMT_NATIVE"  # 0 in the environment: they are not looked at
VERSION = 4  # of what the kernels take; a module that was built of older sources is left alone


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
    return known and x.is_cpu and type(x) is Tensor and library() is not None  # others may have no numbers


def kernels() -> Any:
    """The module, where `library` has found it."""
    return built()


def state() -> str:
    """For a user."""
    module = built()
    if os.environ.get(HIDDEN) == "0":
        return f"hidden by {HIDDEN}=0"
    if module is None:
        return "none of these sources: torch's operations compute everything; pip builds them by a C compiler"
    return "built" if module.able else "built, unused: this processor has no avx512_vnni"
