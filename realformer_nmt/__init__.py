"""RealFormer, ADMIN, ResiDual, DeepNorm and Synthesizer for fairseq: what `--user-dir realformer_nmt` imports."""

import importlib
import logging
import multiprocessing
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from realformer_nmt.common.late_imports import import_late

if TYPE_CHECKING:
    from realformer_nmt.commands import analyse, average, compare, evaluate, export, prepare, score, train, translate
    from realformer_nmt.serving.translator import load
else:

    def load(*models: object, **options: object) -> object:
        """A trained model that translates raw text: serving/translator.py says how."""
        translator = importlib.import_module("realformer_nmt.serving.translator")  # brings torch and fairseq
        return translator.load(*models, **options)

    def __getattr__(name: str) -> object:
        """Return a command as a function, imported when it is asked for."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module("realformer_nmt.commands"), name)


__version__ = "0.2.0"
__all__ = ["analyse", "average", "compare", "evaluate", "export", "load", "prepare", "score", "train", "translate"]


def _demand_a_folder() -> None:
    """torch's libraries abort the process where the current folder was removed."""
    try:
        Path.cwd()
    except FileNotFoundError:
        sys.exit("the current folder is gone: change to one that exists, and run this again")


def _in_fairseq() -> bool:
    """Whether fairseq is there to register with: not for our own commands, which are quick, and ask plugin.register()
    when they need a model. A rank that is spawned meets us before it meets fairseq."""
    return "fairseq" in sys.modules or multiprocessing.parent_process() is not None


def _fairseq_imports() -> bool:
    """Without a working fairseq there is nothing to register with; `realformer-nmt doctor` says what is wrong."""
    try:
        importlib.import_module("fairseq.models")  # `fairseq` alone could be any folder of that name
    except (Exception, SystemExit):
        return False
    return True


_demand_a_folder()
# fairseq's speech tasks ask for tensorboardX when they are imported; translation does not need it
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)
# and from torch 2.14 on every import of fairseq says this
warnings.filterwarnings("ignore", message=r"`torch\.jit\.script` is deprecated")
import_late()
if _in_fairseq() and _fairseq_imports():
    from realformer_nmt import plugin

    plugin.register()
