"""RealFormer, ADMIN, ResiDual, DeepNorm and Synthesizer for fairseq; `--user-dir realformer_nmt` imports this file."""

import importlib
import logging
import multiprocessing
import sys
import warnings
from typing import TYPE_CHECKING

from realformer_nmt.common.late_imports import import_late
from realformer_nmt.common.version import VERSION

if TYPE_CHECKING:
    from realformer_nmt.python_api import (
        analyse,
        average,
        compare,
        evaluate,
        export,
        import_model,
        prepare,
        run,
        score,
        train,
        translate,
    )
    from realformer_nmt.serving.translator import load
else:

    def __getattr__(name: str) -> object:
        """Return `load`, or a command as a function; its module is imported when it is used."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = "serving.translator" if name == "load" else "python_api"  # the first brings torch and fairseq
        return getattr(importlib.import_module(f"{__name__}.{module}"), name)


__version__ = VERSION
__all__ = [
    "analyse",
    "average",
    "compare",
    "evaluate",
    "export",
    "import_model",
    "load",
    "prepare",
    "run",
    "score",
    "train",
    "translate",
]


def _in_fairseq() -> bool:
    """Tell whether fairseq imports this package: fairseq is loaded, or this is a process such as a spawned rank.

    Commands of this package start faster without fairseq; they call plugin.register() when they need a model.
    """
    return "fairseq" in sys.modules or multiprocessing.parent_process() is not None


def _fairseq_imports() -> bool:
    """Tell whether fairseq works; `realformer-nmt doctor` shows what is wrong if it does not."""
    try:
        importlib.import_module("fairseq.models")  # `fairseq` alone could be any folder of that name
    except (Exception, SystemExit):
        return False
    return True


# fairseq's speech tasks log that tensorboardX is missing; translation does not need it
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)
# with torch 2.14 or later, every import of fairseq shows this warning
warnings.filterwarnings("ignore", message=r"`torch\.jit\.script` is deprecated")
import_late()
if _in_fairseq() and _fairseq_imports():
    from realformer_nmt import plugin

    plugin.register()
