"""Names that fairseq uses and numpy no longer has."""

from types import SimpleNamespace

import numpy as np


def name_whole_numbers() -> None:
    """Provide numpy.compat.long for --sample-break-mode eos."""
    if not hasattr(np, "compat"):
        vars(np)["compat"] = SimpleNamespace(long=int)
