"""Imports that garbage collection leaves alone: what they bring is never garbage, and looking through it costs a
quarter of a short command's time, most of it at the exit."""

import contextlib
import gc
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def frozen(module: str) -> Iterator[None]:
    """Pause collection while a module is imported for the first time, and leave what exists then out of later ones."""
    if module in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
