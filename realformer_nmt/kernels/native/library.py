"""Finds the kernels. Without them torch's operations compute the same."""

import functools
import importlib
import os
from typing import Any

HIDDEN = "REALFORMER_NMT_NATIVE"  # 0 in the environment: they are not looked at


@functools.cache
def built() -> Any | None:
    """The module, if there is one."""
    try:
        return importlib.import_module("realformer_nmt.kernels.native._kernels")
    except ImportError:
        return None


def library() -> Any | None:
    """The module, if it is to be used here."""
    module = built()
    return module if module is not None and module.able and os.environ.get(HIDDEN) != "0" else None


def kernels() -> Any:
    """The module, where `library` has found it."""
    return built()


def state() -> str:
    """For a user."""
    module = built()
    if os.environ.get(HIDDEN) == "0":
        return f"hidden by {HIDDEN}=0"
    if module is None:
        return "not built: pip found no C compiler, so torch's operations compute everything"
    return "built" if module.able else "built, unused: this processor has no avx512_vnni"
